// Pictures of representative views, for docs/explorer.md and for people to look at.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { KEPT, openPage, ready } from "./chromium.mjs";
import { withPalette } from "./png.mjs";

/** Views by name: their address. */
const VIEWS = {
  gallery: "#/",
  insertion_sort: "#/insertion_sort?n=12&t=7",
  bellman_ford: "#/bellman_ford?n=9&seed=4&o.p=0.7&t=2",
  bfs_dfs: "#/bfs?n=10&o.p=0.6&vs=dfs&t=2&u=15",
  dijkstra: "#/dijkstra?n=12&o.p=0.5&t=6",
  lcs_length: "#/lcs_length?n=12&t=3",
  kmp_matcher: "#/kmp_matcher?n=16&t=11",
  matrix_chain_order: "#/matrix_chain_order?n=8&t=4",
  graham_scan: "#/graham_scan?n=16&t=24",
  activity_selector: "#/activity_selector?n=12&t=8",
  network: "#/network/bfs?n=10&count=16&t=1",
  training: "#/training",
};

/** Devices by name. */
const DEVICES = {
  light: { viewport: { width: 1280, height: 800 } },
  dark: { viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2 },
  "4k": { viewport: { width: 3840, height: 2160 } },
};

/** Writes all pictures to a folder; with `update`, also those that are kept for the documentation. */
export async function screenshots(browser, base, folder, update) {
  mkdirSync(folder, { recursive: true });
  for (const [device, options] of Object.entries(DEVICES)) {
    const page = await openPage(browser, options);
    for (const [name, hash] of Object.entries(VIEWS)) {
      await page.goto(`${base}${hash}`);
      await ready(page);
      await page.locator(name === "training" ? ".chart .curve" : "svg.picture [data-panel]").first().waitFor();
      const picture = withPalette(await page.screenshot({ animations: "disabled" }));
      const file = `${name}-${device}.png`;
      const folders = update && existsSync(join(KEPT, file)) ? [folder, KEPT] : [folder];
      folders.forEach((to) => writeFileSync(join(to, file), picture));
    }
    await page.context().close();
  }
}
