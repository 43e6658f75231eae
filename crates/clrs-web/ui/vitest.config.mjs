import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** Templates are text, as in build.mjs. */
const html = {
  name: "html-as-text",
  enforce: "pre",
  load: (id) => (id.endsWith(".html") ? `export default ${JSON.stringify(readFileSync(id, "utf8"))}` : undefined),
};

export default defineConfig({ plugins: [html], test: { include: ["test/**/*.test.{ts,mjs}"] } });
