// The worked examples as pages of their own: `clrs trace --html` gives the pictures that are kept in docs/explorer.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { assert, KEPT, openPage } from "./chromium.mjs";
import { withPalette } from "./png.mjs";
import { run } from "./program.mjs";

const PRESETS = fileURLToPath(new URL("../../presets/", import.meta.url));
/** Algorithm and frame of every example, as in the figures of the paper. */
const FRAMES = { insertion_sort: 3, bellman_ford: 3, naive_string_matcher: 3, matrix_chain_order: 3 };
/** Fonts and antialiasing differ a little between versions of Chromium: the share of pixels that may differ visibly. */
const MAX_DIFFERENT = 0.01;

export async function examples(browser, folder, update) {
  const notes = [];
  for (const [algorithm, frame] of Object.entries(FRAMES)) {
    const [problem, html] = [join(folder, `${algorithm}.json`), join(folder, `${algorithm}.html`)];
    writeFileSync(problem, JSON.stringify(JSON.parse(readFileSync(join(PRESETS, `${algorithm}.json`), "utf8")).problem));
    await run(["trace", algorithm, "--problem", problem, "--html", html]);
    const page = await openPage(browser, { offline: true, viewport: { width: 1200, height: 760 } });
    await page.goto(pathToFileURL(html).href);
    await page.locator("svg.picture[role=img] [data-panel]").first().waitFor();
    for (let step = 0; step < frame; step++) {
      await page.keyboard.press("ArrowRight");
    }
    await page.waitForFunction((to) => document.querySelector(".scrubber input").value === String(to), frame);
    const picture = await page.locator(".canvas").screenshot({ animations: "disabled" });
    const kept = join(KEPT, `example-${algorithm}.png`);
    if (update) {
      writeFileSync(kept, withPalette(picture));
    }
    assert(existsSync(kept), `${kept} does not exist; --update writes it`);
    const share = await difference(browser, picture, readFileSync(kept));
    assert(share <= MAX_DIFFERENT, `${algorithm}: ${(100 * share).toFixed(2)}% of the pixels differ from docs/explorer/example-${algorithm}.png`);
    assert(page.errors.length === 0, page.errors.join("\n"));
    notes.push(`${algorithm} ${(100 * share).toFixed(2)}%`);
    await page.context().close();
  }
  return `pixels that differ: ${notes.join(", ")}`;
}

/** The share of pixels that differ visibly. Chromium decodes the pictures. */
async function difference(browser, one, other) {
  const page = await openPage(browser);
  const share = await page.evaluate(
    async (pictures) => {
      const decode = async (base64) => {
        const image = new Image();
        image.src = `data:image/png;base64,${base64}`;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
      };
      const [a, b] = await Promise.all(pictures.map(decode));
      if (a.width !== b.width || a.height !== b.height) {
        return 1;
      }
      let count = 0;
      for (let at = 0; at < a.data.length; at += 4) {
        count += [0, 1, 2].some((channel) => Math.abs(a.data[at + channel] - b.data[at + channel]) > 48) ? 1 : 0;
      }
      return count / (a.width * a.height);
    },
    [one, other].map((bytes) => bytes.toString("base64")),
  );
  await page.context().close();
  return share;
}
