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
      const serious = result.violations.filter(({ id, impact }) => impact === "serious" || impact === "critical" || id === "page-has-heading-one");
      violations.push(...serious.map(({ id, nodes }) => `${view} (${colorScheme}): ${id}: ${nodes.slice(0, 3).map((node) => node.target.join(" ")).join("; ")}`));
    }
    await page.context().close();
  }
  assert(violations.length === 0, violations.join("\n"));
  await byKeyboard(browser, base);
  await inForms(browser, base);
  await onPhone(browser, base);
  await whileLoading(browser, base);
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
  // Buttons that have nothing to do keep the focus.
  await focus((element) => element.getAttribute?.("aria-label") === "Step forward", "the button to the next step");
  for (let step = 0; step < last + 2; step++) {
    await page.keyboard.press("Enter");
  }
  await page.locator("button[aria-label='Step forward'][aria-disabled=true]").waitFor();
  assert((await frame()) === last, `the next step leads to frame ${await frame()}`);
  assert(await page.evaluate(() => document.activeElement.ariaLabel === "Step forward"), "the focus leaves the button at the end");
  // Arrows switch tabs, and do not step.
  await focus((element) => element.getAttribute?.("role") === "tab" && element.textContent === "Code", "the tab of the source");
  await page.keyboard.press("ArrowLeft");
  await page.locator(".prose h2, .prose h3, .prose p").first().waitFor();
  assert(await page.evaluate(() => document.activeElement.textContent === "About"), "the focus follows the tab");
  assert((await frame()) === last, "arrows on a tab do not step");
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

/** Keys that are typed into a field stay there, and Escape closes what is open. */
async function inForms(browser, base) {
  const page = await openPage(browser);
  await page.goto(`${base}#/bfs?t=1`);
  await ready(page);
  await page.locator(".scrubber input").waitFor();
  const shown = () => page.evaluate(() => [location.hash, document.querySelector(".scrubber input").value, document.documentElement.dataset.theme, document.querySelector("dialog").open].join());
  const before = await shown();
  const typeInto = async (field, what) => {
    await field.focus();
    for (const key of ["ArrowRight", "ArrowLeft", "Home", "End", " ", "?", "t", "d", "g", "r", ",", ".", "l"]) {
      await page.keyboard.press(key);
    }
    await page.waitForTimeout(50);
    assert((await shown()) === before, `keys in ${what} change the page from ${before} to ${await shown()}`);
  };
  const isClosed = async (selector) => page.waitForFunction((selector) => document.querySelector(selector) === null, selector).catch(() => {
    throw new Error(`Escape does not close ${selector}`);
  });
  await typeInto(page.locator(".controls input[type=number]").first(), "a number");
  await page.locator("details.options summary").click();
  await typeInto(page.locator("details.options input").first(), "an option");
  await page.keyboard.press("Escape");
  await isClosed("details.options[open]");
  assert(await page.evaluate(() => document.activeElement.matches("details.options summary")), "the focus returns to the menu");
  await page.locator("details.menu summary", { hasText: "Save" }).click();
  await page.locator("svg.picture").first().click();
  await isClosed("details.menu[open]");
  await page.locator("details.menu summary", { hasText: "Save" }).click();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  await isClosed("details.menu[open]");
  for (const [key, count] of [["Tab", 3], ["Shift+Tab", 1]]) {
    await page.locator("details.menu summary", { hasText: "Save" }).focus();
    await page.keyboard.press("Enter");
    await page.locator("details.menu[open]").waitFor();
    for (let k = 0; k < count; k++) {
      await page.keyboard.press(key);
    }
    await isClosed("details.menu[open]");
  }
  await page.getByRole("button", { name: "Edit" }).click();
  // The form of a matrix leaves room for the time line.
  await page.locator(".editor .matrix").waitFor();
  const isInside = await page.evaluate(() => document.querySelector(".speed").getBoundingClientRect().right <= document.querySelector(".stage").getBoundingClientRect().right);
  assert(isInside, "the time line leaves its place beside the form of a problem");
  await page.locator(".editor").getByRole("button", { name: "JSON" }).click();
  await typeInto(page.locator(".editor textarea"), "a text");
  await page.keyboard.press("Escape");
  await isClosed(".editor");
  assert(await page.evaluate(() => document.activeElement.textContent.trim() === "Edit"), "the focus returns to the button of the editor");
  await page.getByRole("button", { name: "Edit" }).click();
  await page.locator(".editor").waitFor();
  await page.keyboard.press("Escape");
  await isClosed(".editor");
  await page.getByRole("button", { name: "Help" }).click();
  await page.locator("dialog h2").click();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Escape");
  await isClosed("dialog[open]");
  assert((await shown()) === before, "keys in a dialog leave the page behind it alone");
  // Links are followed with Enter: Space plays, wherever the focus is but in a button or a field.
  await page.locator("a.brand").focus();
  await page.keyboard.press(" ");
  await page.locator("button.play[aria-label=Pause]").waitFor();
  await page.keyboard.press(" ");
  await page.locator("button.play[aria-label=Play]").waitFor();
  assert(page.errors.length === 0, page.errors.join("\n"));
  await page.context().close();
}

/** Menus are inside a narrow page, a tap shows what the pointer would, and tables scroll. */
async function onPhone(browser, base) {
  const page = await openPage(browser, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  for (const [view, menu] of [["#/matrix_chain_order?n=8", "Save"], ["#/graham_scan", "Save"], ["#/segments_intersect", "Save"], ["#/dijkstra?n=12", "Options"]]) {
    await page.goto(`${base}${view}`);
    await ready(page);
    await page.locator("details.menu summary", { hasText: menu }).click();
    const { left, right, hidden } = await page.locator("details[open] .menu-items").evaluate((items) => {
      const { left, right } = items.getBoundingClientRect();
      return { left, right, hidden: items.scrollWidth - items.clientWidth };
    });
    assert(left >= 0 && right <= 390 && hidden <= 0, `${view}: the menu ${menu} is between ${left} and ${right}, ${hidden} of it hidden`);
    await page.keyboard.press("Escape");
  }
  const marks = [
    ["#/graham_scan?t=9", ".plane .node >> nth=5", "node 5"],
    ["#/bfs?n=8&t=1", ".graph .node >> nth=2", "node 2"],
    ["#/matrix_chain_order?n=8&t=3", ".table .cell >> nth=4", "\u2192"],
  ];
  for (const [view, mark, title] of marks) {
    await page.goto(`${base}${view}`);
    await ready(page);
    await page.locator(mark).tap();
    await page.locator(".tooltip b", { hasText: title }).waitFor().catch(() => {
      throw new Error(`${view}: no tooltip after a tap`);
    });
    await page.locator("output.step").first().tap();
    await page.locator(".tooltip").waitFor({ state: "detached" });
  }
  await page.goto(`${base}#/graham_scan`);
  await ready(page);
  assert((await page.locator(".plane .beside text, .plane .number").count()) === 16, "points of a narrow picture have numbers");
  await page.goto(`${base}#/training`);
  await page.locator("table.runs").waitFor();
  const isInside = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && document.querySelector(".scrolled").scrollWidth > innerWidth);
  assert(isInside, "the table scrolls, not the page");
  assert((await page.title()).startsWith("Training"), `the title is ${await page.title()}`);
  assert((await page.locator("nav [aria-current=page]").allTextContents()).join() === "Training", "the current page is marked");
  assert(page.errors.length === 0, page.errors.join("\n"));
  await page.context().close();
}

/** What is typed into a field stays while the answer to an earlier change arrives; limits are named. */
async function whileLoading(browser, base) {
  const page = await openPage(browser);
  await page.goto(`${base}#/bfs`);
  await ready(page);
  await page.route("**/api/trace*", async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    await route.continue();
  });
  const [size, seed] = [0, 1].map((index) => page.locator(".controls input[type=number]").nth(index));
  await size.fill("7");
  await page.keyboard.press("Tab");
  await page.keyboard.type("5");
  await page.waitForTimeout(400);
  await ready(page);
  assert((await seed.inputValue()) === "5", `the seed is ${await seed.inputValue()} after another answer`);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash === "#/bfs?n=7&seed=5");
  await size.fill("999");
  await page.keyboard.press("Enter");
  await page.getByText("the explorer draws at most 128 nodes").waitFor();
  assert((await size.inputValue()) === "128", `the size is ${await size.inputValue()}`);
  await ready(page);
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
