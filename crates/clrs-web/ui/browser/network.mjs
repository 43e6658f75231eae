// A trained network beside the truth.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { assert, download, openPage, ready } from "./chromium.mjs";

export async function network(browser, { base, folder }) {
  const page = await openPage(browser);
  await page.goto(`${base}#/network/bfs?n=12&count=16`);
  await ready(page);
  const slider = page.locator(".scrubber input");
  const panes = page.locator(".pane figcaption b");
  assert((await panes.allTextContents()).join() === "Truth,bfs-40", `panes ${await panes.allTextContents()}`);

  // The list has all samples, incorrect answers first, then by the step of the first error.
  const overview = await page.evaluate(() => fetch("/api/network?run=0&algorithm=bfs&size=12&count=16").then((response) => response.json()));
  const listed = (await page.locator(".samples button b").allTextContents()).map(Number);
  const of = (sample) => overview.samples[sample];
  assert(listed.length === 16 && new Set(listed).size === 16, `samples ${listed}`);
  const rank = (sample) => [Number(of(sample).valid), of(sample).first_error === null ? 1e9 : of(sample).first_error / of(sample).steps];
  for (const [index, sample] of listed.slice(1).entries()) {
    const [before, after] = [rank(listed[index]), rank(sample)];
    assert(before[0] < after[0] || (before[0] === after[0] && before[1] <= after[1]), `sample ${listed[index]} is listed before ${sample}`);
  }
  assert(overview.samples.some((sample) => !sample.valid), "a network of 40 steps makes errors");

  // An incorrect sample: its reason, the key to the first error, and marks where the prediction differs.
  const wrong = listed.find((sample) => !of(sample).valid && of(sample).first_error !== null);
  await page.locator(".samples button", { has: page.locator(`b:text-is("${wrong}")`) }).click();
  await ready(page);
  assert((await page.locator(".verdicts").textContent()).includes(of(wrong).failure), `no reason in ${await page.locator(".verdicts").textContent()}`);
  await page.keyboard.press("d");
  await page.waitForFunction((first) => document.querySelector(".scrubber input").value === String(first), of(wrong).first_error);
  assert((await page.locator(".pane").nth(1).locator(".wrong").count()) > 0, "errors are marked in the prediction");
  assert((await page.locator(".pane").nth(0).locator(".wrong").count()) === 0, "the truth has no errors");
  assert((await page.locator(".error-mark").count()) > 0, "errors are marked in time");

  // Probabilities of a decision, at the pointer.
  await page.locator(".pane").nth(1).locator("svg [data-probe] [data-cell]").first().hover({ force: true });
  await page.locator(".tooltip .candidate").first().waitFor();
  const sums = await page.evaluate(() => [...document.querySelectorAll(".tooltip meter")].map((meter) => meter.value));
  assert(sums.every((value) => value >= 0 && value <= 1), `probabilities ${sums}`);

  // Keys to the next and the previous sample.
  const current = () => page.locator('.samples button[aria-current="true"] b').textContent();
  const position = listed.indexOf(wrong);
  await page.keyboard.press("j");
  await page.waitForFunction((sample) => document.querySelector('.samples button[aria-current="true"] b')?.textContent === String(sample), listed[Math.min(position + 1, 15)]);
  await ready(page);
  await page.keyboard.press("k");
  await ready(page);
  assert(Number(await current()) === listed[Math.max(Math.min(position + 1, 15) - 1, 0)], `sample ${await current()}`);

  // Every frame of the pair, without errors in the console.
  await page.keyboard.press("Home");
  for (let frame = 0; frame < Number(await slider.getAttribute("max")); frame++) {
    await page.keyboard.press("ArrowRight");
  }
  assert((await page.locator("output.step").textContent()) === "result", "the last frame is the result");

  // A second run on the same sample; and a network that decides itself when to stop.
  await choose(page, "beside", { label: "both-12" });
  await page.waitForFunction(() => document.querySelectorAll(".pane").length === 3);
  assert((await page.locator(".verdicts > span").count()) === 2, "two verdicts");
  await choose(page, "steps", "fixpoint");
  await ready(page);

  // The other algorithm of the second run.
  await page.goto(`${base}#/network/insertion_sort?run=1&n=8&count=4`);
  await ready(page);
  assert((await panes.allTextContents()).join() === "Truth,both-12", `panes ${await panes.allTextContents()}`);

  // What the server refuses is shown in words.
  await page.goto(`${base}#/network/quicksort?run=7`);
  await page.locator("[role=alert]").filter({ hasText: "no run number 7" }).waitFor();
  page.errors = page.errors.filter((error) => !error.includes("404"));

  // Taken away: truth and prediction in a file.
  await page.goto(`${base}#/network/bfs?n=12&count=16&sample=${wrong}`);
  await ready(page);
  const file = join(folder, "network.html");
  writeFileSync(file, await download(page, "Page with all steps (HTML)"));
  assert(page.errors.length === 0, page.errors.join("\n"));
  await page.context().close();
  const saved = await openPage(browser, { offline: true });
  await saved.goto(pathToFileURL(file).href);
  await saved.locator(".pane").nth(1).waitFor();
  assert((await saved.locator(".pane figcaption b").allTextContents()).join() === "Truth,Prediction", "both are in the file");
  await saved.keyboard.press("d");
  await saved.waitForFunction((first) => document.querySelector(".scrubber input").value === String(first), of(wrong).first_error);
  assert(saved.errors.length === 0, saved.errors.join("\n"));
  await saved.context().close();
  return `16 samples, first error of sample ${wrong}: step ${of(wrong).first_error + 1}`;
}

/** Chooses an option in the list with a label. */
async function choose(page, label, option) {
  await page.locator(".controls label", { has: page.locator(`span:text-is("${label}")`) }).locator("select").selectOption(option);
}
