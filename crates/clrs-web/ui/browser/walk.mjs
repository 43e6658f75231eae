// Walks through the registry: every algorithm at every size, to the end and back.

import { assert, openPage, showTrace } from "./chromium.mjs";
import { install } from "./inspect.mjs";

/** Milliseconds in which a step is to be drawn, by size. Other programs may delay single steps: the median counts. */
const LIMITS = { 4: 16, 16: 16, 64: 33, preset: 16 };

/** Values that no mark shows: masks that are 0, pointers to the node itself, inputs of a graph without edges. */
function isRest(probe, nodes) {
  const rows = Array.isArray(probe.values[0]) ? probe.values : [probe.values];
  const isPointer = ["pointer", "permutation", "cyclic_permutation"].includes(probe.kind);
  const isInputEdge = probe.location === "edge" && probe.stage === "input";
  const isLoop = (cell) => isInputEdge && Math.floor(cell / nodes) === cell % nodes;
  const isNone = (value, cell) => (isPointer ? value === cell % nodes : (probe.kind === "mask" || isInputEdge) && (value <= 0 || isLoop(cell)));
  return rows.every((row) => row.every(isNone));
}

export async function walk(browser, base, { sizes, isFull }) {
  const page = await openPage(browser);
  await page.goto(base);
  await page.evaluate(install);
  const info = await page.evaluate(() => fetch("/api/info").then((response) => response.json()));
  const views = [
    ...sizes.flatMap((size) => info.algorithms.map(({ algorithm }) => ({ algorithm, size, hash: `#/${algorithm}?n=${size}` }))),
    ...info.presets.map(({ algorithm, problem }) => ({ algorithm, size: "preset", hash: `#/${algorithm}?problem=${encodeURIComponent(JSON.stringify(problem))}`, problem })),
  ];
  const failures = [];
  const times = new Map();
  let frames = 0;
  for (const { algorithm, size, hash, problem } of views) {
    await showTrace(page, hash).catch((error) => {
      throw new Error(`${hash}: ${error}`);
    });
    const steps = await page.evaluate(() => Number(document.querySelector(".scrubber input").max));
    const every = isFull || steps < 200 ? 1 : Math.ceil(steps / 40);
    const result = await page.evaluate((every) => window.inspect.walk(every), every);
    const trace = await page.evaluate(
      ({ algorithm, size, problem }) =>
        (problem
          ? fetch("/api/trace", { method: "POST", body: JSON.stringify({ algorithm, problem }) })
          : fetch(`/api/trace?algorithm=${algorithm}&size=${size}`)
        ).then((response) => response.json()),
      { algorithm, size, problem },
    );
    const missing = trace.probes.filter((probe) => !result.probes.includes(probe.name) && !isRest(probe, trace.nodes)).map((probe) => probe.name);
    const fail = (what, list) => list.length > 0 && failures.push(`${algorithm} ${size}: ${what}: ${list.slice(0, 5).join("; ")}${list.length > 5 ? `; and ${list.length - 5} more` : ""}`);
    fail("probes not drawn", missing);
    fail("labels overlap", result.overlaps);
    fail("labels leave the picture", result.outside);
    fail("console", page.errors.splice(0));
    frames += result.frames;
    times.set(size, [...(times.get(size) ?? []), ...result.times.map((time) => ({ time, algorithm }))]);
  }
  await tooltips(page);
  await page.context().close();
  for (const [size, list] of times) {
    list.sort((a, b) => a.time - b.time);
    const at = (fraction) => list[Math.min(list.length - 1, Math.floor(fraction * list.length))];
    const [worst, limit] = [list.at(-1), LIMITS[size]];
    const late = list.filter(({ time }) => time > limit).length;
    console.log(`  size ${size}: ${list.length} steps drawn, median ${at(0.5).time.toFixed(1)} ms, 99% ${at(0.99).time.toFixed(1)} ms, slowest ${worst.time.toFixed(1)} ms (${worst.algorithm}), ${late} after ${limit} ms`);
    if (at(0.5).time > limit) {
      failures.push(`size ${size}: the median step takes more than ${limit} ms`);
    }
  }
  assert(failures.length === 0, failures.join("\n"));
  return `${views.length} views, ${frames} frames`;
}

/** Cells of tables have tooltips, with and without room for text. */
async function tooltips(page) {
  for (const [hash, marks] of [["#/matrix_chain_order?n=8&t=6", ".table .cell-texts text"], ["#/optimal_bst?n=32&t=9", ".table .shades .shade-0"]]) {
    await showTrace(page, hash);
    const { x, y } = await page.locator(marks).last().evaluate((mark) => {
      // The lower left corner of a path with many cells is a cell.
      const box = mark.getBoundingClientRect();
      return mark.localName === "path" ? { x: box.left + 4, y: box.bottom - 4 } : { x: box.left + box.width / 2, y: box.top + box.height / 2 };
    });
    await page.mouse.move(x, y);
    await page.locator(".tooltip b", { hasText: "\u2192" }).waitFor().catch(() => {
      throw new Error(`no tooltip on ${marks} of ${hash}`);
    });
    await page.mouse.move(0, 0);
  }
}
