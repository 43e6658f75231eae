// Tests in a real browser: `node run.mjs [--full] [--only NAME]`. CLRS is the path of the program, CHROMIUM that of the browser.

import { spawn } from "node:child_process";
import { launch } from "./chromium.mjs";
import { walk } from "./walk.mjs";

const isFull = process.argv.includes("--full");
const only = process.argv[process.argv.indexOf("--only") + 1];

/** Starts `clrs serve` on a free port. */
async function serve(args = []) {
  const server = spawn(process.env.CLRS ?? "clrs", ["serve", "--port", "0", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const base = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (chunk) => {
      text += chunk;
      const url = /http:\/\/\S+/.exec(text);
      if (url) {
        resolve(url[0]);
      }
    });
    server.on("exit", (code) => reject(new Error(`clrs serve ended with ${code}`)));
    server.on("error", reject);
  });
  return { base, stop: () => server.kill("SIGTERM") };
}

const TESTS = {
  walk: (browser, { base }) => walk(browser, base, { sizes: [4, 16, 64], isFull }),
};

const server = await serve();
const browser = await launch();
let failed = 0;
try {
  for (const [name, test] of Object.entries(TESTS)) {
    if (only && process.argv.includes("--only") && name !== only) {
      continue;
    }
    const start = performance.now();
    try {
      const note = await test(browser, server);
      console.log(`${name}: ok${note ? ` (${note})` : ""}, ${((performance.now() - start) / 1000).toFixed(1)} s`);
    } catch (error) {
      failed += 1;
      console.log(`${name}: FAILED\n${error.stack ?? error}`);
    }
  }
} finally {
  await browser.close();
  server.stop();
}
process.exitCode = failed > 0 ? 1 : 0;
