// Time until something can be seen: from the request for the page to the first picture.

import { assert, openPage } from "./chromium.mjs";

/** Milliseconds from the request to the first picture, and the limit on a machine that does nothing else. */
const LIMIT = 300;
/** A busy machine may take this many times as long: the test is for gross errors. */
const PATIENCE = 10;

export async function firstView(browser, { base }) {
  const all = [];
  for (const name of ["bfs", "insertion_sort", "lcs_length", "graham_scan", "matrix_chain_order"]) {
    for (let time = 0; time < 3; time++) {
      const page = await openPage(browser);
      await page.addInitScript(() => {
        const observer = new MutationObserver(() => {
          if (document.querySelector("svg.picture[role=img] [data-panel]")) {
            observer.disconnect();
            requestAnimationFrame(() => setTimeout(() => (window.firstView = performance.now())));
          }
        });
        observer.observe(document, { childList: true, subtree: true });
      });
      await page.goto(`${base}#/${name}?n=16`);
      await page.waitForFunction(() => window.firstView);
      all.push(await page.evaluate(() => window.firstView));
      assert(page.errors.length === 0, page.errors.join("\n"));
      await page.context().close();
    }
  }
  all.sort((a, b) => a - b);
  const [median, slowest] = [all[all.length >> 1], all.at(-1)];
  assert(median < LIMIT * PATIENCE, `the first view takes ${median.toFixed(0)} ms`);
  return `median ${median.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms of ${all.length}`;
}
