// Chromium for the tests, and pages that fail on any error in their console.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

/** Pictures that the documentation shows. */
export const KEPT = fileURLToPath(new URL("../../../../docs/explorer/", import.meta.url));

/** Without these, Chromium tries to reach servers of its own. */
const FLAGS = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-gpu",
  "--disable-quic",
  "--disable-sync",
  "--font-render-hinting=none",
  "--no-first-run",
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
];

export async function launch() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: FLAGS });
}

/** Opens a page that collects errors. */
export async function openPage(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", colorScheme: "light", ...options });
  const page = await context.newPage();
  page.errors = [];
  page.on("console", (message) => message.type() === "error" && page.errors.push(message.text()));
  page.on("pageerror", (error) => page.errors.push(String(error.stack ?? error)));
  return page;
}

export function assert(condition, message) {
  if (!condition) {
    throw new Error(message);
  }
}

/** Waits until a picture of an algorithm is drawn. */
export async function showTrace(page, hash) {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  const name = decodeURIComponent(hash.replace(/^#\//, "").split("?")[0]);
  await page.waitForFunction(
    (algorithm) =>
      document.querySelector("main.trace-page .algorithm select")?.value === algorithm &&
      document.querySelector("main.trace-page")?.getAttribute("aria-busy") === "false" &&
      document.querySelector("svg.picture[role=img] [data-panel]"),
    name,
  );
}

/** Waits until the view of the address is drawn and nothing is being loaded. */
export async function ready(page) {
  // What was chosen just now is drawn in the next frame.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  await page.waitForFunction(() => {
    const main = document.querySelector("main");
    return main && main.getAttribute("aria-busy") !== "true" && (!main.matches(".trace-page") || main.querySelector("svg.picture[role=img] [data-panel]"));
  });
}

/** Chooses an item of the save menu and returns the file. */
export async function download(page, item) {
  await page.locator("details.menu summary", { hasText: "Save" }).click();
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: item }).click()]);
  return readFileSync(await file.path());
}
