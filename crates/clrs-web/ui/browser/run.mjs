// Tests in a real browser: `node run.mjs [--full] [--only NAME]... [--minutes M]`. CLRS is the path of the program, CHROMIUM that of the
// browser. The networks that are shown are trained first, for some seconds. `--screenshots FOLDER` writes pictures of many views.
// `--update` writes the pictures that the documentation shows: those of the worked examples, and with `--screenshots` those of views.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { access } from "./access.mjs";
import { launch } from "./chromium.mjs";
import { examples } from "./examples.mjs";
import { firstView } from "./firstview.mjs";
import { load } from "./load.mjs";
import { network } from "./network.mjs";
import { serve, train } from "./program.mjs";
import { saved } from "./saved.mjs";
import { screenshots } from "./screenshots.mjs";
import { training } from "./training.mjs";
import { walk } from "./walk.mjs";

const { values } = parseArgs({
  options: {
    full: { type: "boolean", default: false },
    only: { type: "string", multiple: true, default: [] },
    minutes: { type: "string", default: "0.1" },
    update: { type: "boolean", default: false },
    screenshots: { type: "string" },
  },
});

const TESTS = {
  // Before others add runs.
  ...(values.screenshots ? { screenshots: (browser, { base }) => screenshots(browser, base, values.screenshots, values.update) } : {}),
  walk: (browser, { base }) => walk(browser, base, { sizes: [4, 16, 64], isFull: values.full }),
  first_view: firstView,
  saved,
  examples: (browser, { folder }) => examples(browser, folder, values.update),
  access,
  network,
  training,
  load: (browser, server) => load(server, Number(values.minutes)),
};

const unknown = values.only.filter((name) => !(name in TESTS));
if (unknown.length > 0) {
  throw new Error(`no such test: ${unknown.join(", ")}; there are ${Object.keys(TESTS).join(", ")}`);
}
const folder = mkdtempSync(join(tmpdir(), "clrs-explorer-"));
const runs = join(folder, "runs");
await train(join(runs, "bfs-40"), ["algorithms=bfs", "steps=40", "seed=1"]);
await train(join(runs, "both-12"), ["algorithms=bfs,insertion_sort", "steps=12", "seed=2"]);
const server = { ...(await serve(["--run", runs])), runs, folder };
const browser = await launch();
let [passed, failed] = [0, 0];
try {
  for (const [name, test] of Object.entries(TESTS)) {
    if (values.only.length > 0 && !values.only.includes(name)) {
      continue;
    }
    const start = performance.now();
    try {
      const note = await test(browser, server);
      passed += 1;
      console.log(`${name}: ok${note ? ` (${note})` : ""}, ${((performance.now() - start) / 1000).toFixed(1)} s`);
    } catch (error) {
      failed += 1;
      console.log(`${name}: FAILED\n${error.stack ?? error}`);
    }
  }
} finally {
  await browser.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
