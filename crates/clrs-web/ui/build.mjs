// Builds the bundle: `node build.mjs FOLDER` writes early.js, app.js, picture.css and page.css, and fails if they are too large.

import { build } from "esbuild";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** Bytes, as they are and compressed: the page has to be fast on a slow network, and small in the repository. */
const MAX_BYTES = 200_000;
const MAX_COMPRESSED = 70_000;

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = process.argv[2];
if (!folder) {
  throw new Error("usage: node build.mjs FOLDER");
}
const common = {
  absWorkingDir: here,
  bundle: true,
  minify: true,
  legalComments: "none",
  charset: "utf8",
  target: ["chrome111", "firefox113", "safari16.4"],
  logLevel: "warning",
};
await build({
  ...common,
  entryPoints: { app: "src/main.tsx", early: "src/early.ts" },
  outdir: folder,
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".html": "text" },
});
await build({ ...common, entryPoints: { picture: "src/pictures.css", page: "src/page.css" }, outdir: folder });

const files = ["early.js", "app.js", "picture.css", "page.css"].map((name) => readFileSync(join(folder, name)));
const bytes = files.reduce((sum, file) => sum + file.length, 0);
const compressed = gzipSync(Buffer.concat(files), { level: 9 }).length;
console.log(`bundle: ${bytes} bytes, ${compressed} compressed`);
if (bytes > MAX_BYTES || compressed > MAX_COMPRESSED) {
  throw new Error(`the bundle may have ${MAX_BYTES} bytes, ${MAX_COMPRESSED} compressed`);
}
