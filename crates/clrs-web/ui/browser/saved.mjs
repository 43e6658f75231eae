// Pictures as files: what an SVG shows without the page around it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { assert, download, openPage, ready } from "./chromium.mjs";

const VIEWS = ["#/bellman_ford?t=3", "#/insertion_sort?t=4", "#/find_maximum_subarray?t=40", "#/matrix_chain_order?n=8&t=4", "#/kmp_matcher?t=9", "#/graham_scan?t=9"];

export async function saved(browser, { base, folder }) {
  let labels = 0;
  for (const view of VIEWS) {
    const page = await openPage(browser);
    await page.goto(`${base}${view}`);
    await ready(page);
    const file = join(folder, "picture.svg");
    writeFileSync(file, await download(page, "Picture (SVG)"));
    assert(page.errors.length === 0, page.errors.join("\n"));
    await page.context().close();
    const picture = await openPage(browser, { offline: true });
    await picture.goto(pathToFileURL(file).href);
    const { covered, outside, count } = await picture.evaluate(inspectLegend);
    assert(count > 3 && covered.length === 0, `${view}: labels of the legend cover marks: ${covered}`);
    assert(outside.length === 0, `${view}: texts leave the picture: ${outside}`);
    labels += count;
    await picture.context().close();
  }
  return `${VIEWS.length} pictures, ${labels} labels`;
}

/** Runs inside the picture. The legend is its last group, with one group per entry: a mark, and its label as the last element. */
function inspectLegend() {
  const svg = document.documentElement;
  const frame = svg.getBoundingClientRect();
  const box = (element) => element.getBoundingClientRect();
  const legend = svg.lastElementChild.firstElementChild;
  const above = Math.max(...[...svg.children].slice(0, -1).map((panel) => box(panel).bottom));
  const entries = [...legend.children].map((entry) => ({ label: entry.lastElementChild, marks: [...entry.children].slice(0, -1) }));
  const isCovering = ({ label, marks }) => box(label).top < above - 3 || marks.some((mark) => box(mark).right > box(label).left);
  const isNextCovered = ({ label }, index) => {
    const next = entries[index + 1] && box(entries[index + 1].marks[0]);
    return next && next.left < box(label).right && next.top < box(label).bottom && next.bottom > box(label).top;
  };
  const isOutside = (text) => box(text).left < frame.left - 1 || box(text).right > frame.right + 1 || box(text).bottom > frame.bottom + 1;
  return {
    count: entries.length,
    covered: entries.filter((entry, index) => isCovering(entry) || isNextCovered(entry, index)).map(({ label }) => label.textContent),
    outside: [...svg.querySelectorAll("text")].filter(isOutside).map((text) => text.textContent),
  };
}
