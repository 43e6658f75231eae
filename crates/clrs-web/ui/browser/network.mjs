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
  const named = await page.locator(".verdicts .first-error").textContent();
  assert(named.includes(await firstErrorText(page, wrong)), `the first error is named as ${named}`);
  await page.keyboard.press("d");
  await page.waitForFunction((first) => document.querySelector(".scrubber input").value === String(first), of(wrong).first_error);
  assert((await page.locator(".errors-line .mistake").count()) > 0, "errors of the step are listed");
  assert((await page.locator(".pane").nth(1).locator(".wrong").count()) > 0, "errors are marked in the prediction");
  assert((await page.locator(".pane").nth(0).locator(".wrong").count()) === 0, "the truth has no errors");
  assert((await page.locator(".error-mark").count()) > 0, "errors are marked in time");

  // Scores of hints say which they are. The sample that is shown is no new entry in the history.
  const scores = async () => [...new Set((await page.locator(".hint-plots .number .muted").allTextContents()))].join();
  for (const [key, label] of [["Home", "mean"], ["ArrowRight", "step 2"], ["End", "mean"]]) {
    await page.keyboard.press(key);
    await ready(page);
    assert((await scores()) === label, `after ${key}, scores are of ${await scores()}`);
  }
  const entries = await page.evaluate(() => history.length);
  await page.locator('.samples button[aria-current="true"]').click();
  assert((await page.evaluate(() => history.length)) === entries, "the same sample again is in the history");
  assert((await page.locator(".key.errors li").count()) === 3, "marks of errors are explained");
  await page.keyboard.press("d");
  await ready(page);

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
  await isInView(page);
  assert((await page.locator(".verdicts > b").textContent()) === `sample ${await current()}`, "the sample is named");
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

  // Runs beside are those that know the algorithm: only this one knows this one.
  assert((await page.locator(".controls label", { hasText: "beside" }).count()) === 0, "no run beside knows the algorithm");
  await choose(page, "run", "0");
  await ready(page);
  assert((await page.evaluate(() => location.hash)).startsWith("#/network/bfs"), "a run shows an algorithm that it knows");
  await choose(page, "beside", "1");
  await choose(page, "steps", "max");
  await choose(page, "run", "1");
  await ready(page);
  assert((await panes.allTextContents()).join() === "Truth,both-12", `panes ${await panes.allTextContents()}`);

  // What the server refuses is shown in words.
  await page.goto(`${base}#/network/quicksort?run=7`);
  await page.locator("[role=alert]").filter({ hasText: "no run number 7" }).waitFor();
  page.errors = page.errors.filter((error) => !error.includes("404"));

  // Taken away: truth and prediction in a file.
  await page.goto(`${base}#/network/bfs?n=12&count=16&sample=${wrong}`);
  await ready(page);
  // A list that needs to scroll shows the sample of the address, and the page stays where it is.
  await page.setViewportSize({ width: 1440, height: 620 });
  await page.goto(`${base}#/network/bfs?n=12&count=64&sample=${wrong}`);
  await ready(page);
  for (let count = 0; count < 40; count++) {
    await page.keyboard.press("j");
  }
  await ready(page);
  await isInView(page);
  assert((await page.evaluate(() => scrollY)) === 0, "the page does not scroll with the list");
  await page.goto(`${base}#/network/bfs?n=12&count=16&sample=${wrong}`);
  await page.setViewportSize({ width: 1440, height: 900 });
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

/** The chosen sample is inside the visible part of its list. */
async function isInView(page) {
  const isInside = () => {
    const [item, box] = ['.samples button[aria-current="true"]', ".below-code"].map((selector) => document.querySelector(selector)?.getBoundingClientRect());
    return item && box && item.top >= box.top - 1 && item.bottom <= box.bottom + 1;
  };
  await page.waitForFunction(isInside).catch(() => {
    throw new Error("the chosen sample is not in view");
  });
}

/** The first error of a sample in words, from what the server sends: step, hint, cell, both values, and how sure the network was. */
async function firstErrorText(page, sample) {
  const { trace, overview } = await page.evaluate(
    (sample) => fetch(`/api/network/sample?run=0&algorithm=bfs&size=12&count=16&sample=${sample}`).then((response) => response.json()),
    sample,
  );
  const step = overview.first_error;
  for (const { name, stage, kind, values, probabilities } of trace.predictions) {
    const truth = trace.probes.find((probe) => probe.name === name);
    const isAsked = stage === (step < trace.steps ? "hint" : "output") && kind !== "scalar";
    const [row, right] = stage === "hint" ? [values[step], truth.values[step]] : [values, truth.values];
    const cell = isAsked ? row.findIndex((value, cell) => value !== right[cell]) : -1;
    if (cell >= 0) {
      // Masks have the probability of 1, pointers that of every node.
      const given = probabilities[stage === "hint" ? step : 0];
      const sure = kind === "mask" ? (row[cell] === 1 ? given[cell] : 1 - given[cell]) : given[cell * trace.nodes + row[cell]];
      return `${step < trace.steps ? `step ${step + 1} of ${trace.steps}` : "result"}, ${name}[${cell}]: ${row[cell]} instead of ${right[cell]}, ${(100 * sure).toFixed(1)}% sure`;
    }
  }
  throw new Error(`sample ${sample} has no error`);
}

/** Chooses an option in the list with a label. */
async function choose(page, label, option) {
  await page.locator(".controls label", { has: page.locator(`span:text-is("${label}")`) }).locator("select").selectOption(option);
}
