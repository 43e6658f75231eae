// Access without a mouse, and for screen readers: axe-core on every kind of view, and the page by keyboard alone.

import { readFileSync } from "node:fs";
import { assert, openPage, ready } from "./chromium.mjs";

const AXE = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

const VIEWS = [
  "#/",
  "#/bfs?t=2",
  "#/insertion_sort?t=3",
  "#/lcs_length?n=8&t=9",
  "#/graham_scan?t=5",
  "#/matrix_chain_order?n=8&t=4",
  "#/mst_prim?vs=mst_kruskal&t=3&u=2",
  "#/network/bfs?n=8&count=4&with=1",
  "#/training",
];

export async function access(browser, { base }) {
  const violations = [];
  let checks = 0;
  for (const colorScheme of ["light", "dark"]) {
    // The policy of the page forbids other scripts, such as that of the test.
    const page = await openPage(browser, { colorScheme, bypassCSP: true });
    await page.goto(base);
    await page.evaluate(AXE);
    for (const view of VIEWS) {
      await page.evaluate((to) => (location.hash = to), view);
      await page.locator("main:not([aria-busy=true])").first().waitFor();
      await (view.includes("training") ? page.locator("table.runs") : page.locator("svg.picture [data-panel]").first()).waitFor();
      await ready(page);
      const result = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
      checks += result.passes.length;
      const serious = result.violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      violations.push(...serious.map(({ id, nodes }) => `${view} (${colorScheme}): ${id}: ${nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ")}`));
    }
    await page.context().close();
  }
  assert(violations.length === 0, violations.join("\n"));
  await byKeyboard(browser, base);
  return `${VIEWS.length} views, light and dark, ${checks} passed rules`;
}

/** From the start page to a step of an algorithm and back, without a mouse. */
async function byKeyboard(browser, base) {
  const page = await openPage(browser);
  await page.goto(base);
  await page.locator(".cards a").first().waitFor();
  const focus = (test, what) => tabTo(page, test, what);
  await focus((element) => element.matches?.('.cards a[href="#/bfs"]'), "the card of BFS");
  await page.keyboard.press("Enter");
  await ready(page);
  const frame = () => page.locator(".scrubber input").inputValue().then(Number);
  const last = Number(await page.locator(".scrubber input").getAttribute("max"));
  const expect = async (key, expected) => {
    await page.keyboard.press(key);
    await page.waitForFunction((to) => Number(document.querySelector(".scrubber input").value) === to, expected).catch(async () => {
      throw new Error(`${key} leads to frame ${await frame()} instead of ${expected}`);
    });
  };
  await expect("ArrowRight", 1);
  await expect("ArrowRight", 2);
  await expect("ArrowLeft", 1);
  await expect("End", last);
  await expect("Home", 0);
  await page.keyboard.press(" ");
  await page.locator("button.play[aria-label=Pause]").waitFor();
  await page.keyboard.press(" ");
  await page.locator("button.play[aria-label=Play]").waitFor();
  await page.keyboard.press("?");
  await page.locator("dialog[open]").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" }).catch(() => page.locator("dialog:not([open])").waitFor({ state: "attached" }));
  await focus((element) => element.getAttribute?.("role") === "tab" && element.textContent === "About", "the tab of the documentation");
  await page.keyboard.press("Enter");
  await page.locator(".prose h2, .prose h3, .prose p").first().waitFor();
  await focus((element) => element.closest?.(".algorithm") && element.tagName === "SELECT", "the choice of an algorithm");
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => !location.hash.startsWith("#/bfs"));
  await ready(page);
  await focus((element) => element.tagName === "BUTTON" && element.textContent.trim() === "Edit", "the button of the editor");
  await page.keyboard.press("Enter");
  await page.locator("textarea, .editor input").first().waitFor();
  assert(page.errors.length === 0, page.errors.join("\n"));
  await page.context().close();
}

/** Presses Tab until the focus is where it is wanted. The focus must be visible on the way. */
async function tabTo(page, test, what) {
  for (let count = 0; count < 120; count++) {
    await page.keyboard.press("Tab");
    const found = await page.evaluate(`(${test})(document.activeElement)`);
    if (found) {
      const isVisible = await page.evaluate(() => {
        const style = getComputedStyle(document.activeElement);
        return style.outlineStyle !== "none" || style.boxShadow !== "none";
      });
      assert(isVisible, `the focus on ${what} cannot be seen`);
      return;
    }
  }
  throw new Error(`Tab does not reach ${what}`);
}
