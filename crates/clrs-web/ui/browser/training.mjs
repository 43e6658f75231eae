// Curves of runs, while one of them trains.

import { join } from "node:path";
import { assert, openPage } from "./chromium.mjs";
import { start, trainArguments } from "./program.mjs";

export async function training(browser, { base, runs }) {
  const page = await openPage(browser);
  await page.goto(`${base}#/training`);
  await page.locator("table.runs").waitFor();
  const names = (await page.locator("table.runs tbody th").allTextContents()).map((text) => text.trim());
  assert(names.includes("bfs-40") && names.includes("both-12"), `runs ${names}`);
  const state = (name) => page.locator("table.runs tr", { hasText: name }).locator("td").nth(2);
  assert((await state("bfs-40").textContent()) === "done", `state ${await state("bfs-40").textContent()}`);
  // A curve per run and algorithm in each of the two charts.
  const curves = () => page.locator(".chart .curve").evaluateAll((paths) => paths.filter((path) => path.getAttribute("d").length > 10).length);
  const before = await curves();
  assert(before === 6, `${before} curves instead of 2 x (1 + 2)`);
  const titles = await page.locator(".chart circle title").allTextContents();
  assert(titles.some((title) => /^bfs-40 bfs, step \d+: [\d.]+%$/.test(title)), `points ${titles.slice(0, 3)}`);
  await page.locator("table.runs th", { hasText: "both-12" }).click({ position: { x: 90, y: 12 } });
  assert((await curves()) === 6, "a click on the name of a run hides nothing");
  await page.locator("table.runs tr", { hasText: "both-12" }).locator("input").uncheck();
  assert((await curves()) === 2, "a run can be hidden");
  await page.locator("table.runs tr", { hasText: "both-12" }).locator("input").check();

  // A run that starts now appears without a reload, and its steps are counted.
  const trainer = start(trainArguments(join(runs, "live"), ["algorithms=bfs", "steps=1000000", "seed=3"]));
  trainer.stdout.resume();
  const ended = new Promise((resolve) => trainer.on("exit", resolve));
  try {
    await page.locator("table.runs tr", { hasText: "live" }).waitFor({ timeout: 30_000 });
    const steps = () => page.evaluate(() => [...document.querySelectorAll("table.runs tr")].find((row) => row.textContent.includes("live"))?.querySelector("progress")?.value ?? 0);
    await page.waitForFunction(() => [...document.querySelectorAll("table.runs tr")].find((row) => row.textContent.includes("live"))?.querySelector("progress")?.value > 0);
    const first = await steps();
    await page.waitForFunction((first) => [...document.querySelectorAll("table.runs tr")].find((row) => row.textContent.includes("live"))?.querySelector("progress")?.value > first, first);
    assert((await state("live").textContent()) === "running", `state ${await state("live").textContent()}`);
  } finally {
    trainer.kill("SIGINT");
    await ended;
  }
  await page.locator("table.runs tr", { hasText: "live" }).locator("td", { hasText: "stopped" }).waitFor({ timeout: 30_000 });
  assert((await curves()) === 8, `${await curves()} curves with the new run`);
  assert(page.errors.length === 0, page.errors.join("\n"));
  await page.context().close();
}
