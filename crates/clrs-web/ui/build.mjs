// Builds the bundle: `node build.mjs [FOLDER]` writes app.js, picture.css and page.css.

import { build } from "esbuild";
import { fileURLToPath } from "node:url";
import { join } from "node:path";

const here = fileURLToPath(new URL(".", import.meta.url));
const folder = process.argv[2] ?? join(here, "../bundle");
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
  entryPoints: ["src/main.tsx"],
  outfile: join(folder, "app.js"),
  format: "iife",
  jsx: "automatic",
  jsxImportSource: "preact",
  loader: { ".html": "text" },
});
await build({ ...common, entryPoints: { picture: "src/pictures.css", page: "src/page.css" }, outdir: folder });
