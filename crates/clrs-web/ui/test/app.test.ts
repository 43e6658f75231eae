import { describe, expect, it } from "vitest";
import { highlight } from "../src/app/code.tsx";
import { blocks } from "../src/app/markdown.tsx";
import { plainColor } from "../src/app/save.tsx";
import { DEFAULTS, formatState, parseState, type State } from "../src/app/state.ts";

describe("addresses", () => {
  const states: Partial<State>[] = [
    {},
    { page: "training" },
    { page: "trace", algorithm: "bfs" },
    { page: "trace", algorithm: "bfs", size: 8, seed: 0, options: { p: "0.3", graph: "a b&c" }, frame: 4 },
    { page: "trace", algorithm: "mst_prim", compare: "mst_kruskal", frame: 2, otherFrame: 0 },
    { page: "trace", algorithm: "insertion_sort", problem: { key: [5, 2.5, -4], text: "a&b=\u00e4" }, frame: 1 },
    { page: "network", algorithm: "bfs", run: 1, otherRun: 0, sample: 7, count: 8, steps: "fixpoint", size: 64 },
  ];
  it.each(states.map((state) => [JSON.stringify(state), state] as const))("restore %s", (_, change) => {
    const state = { ...DEFAULTS, ...change };
    expect(parseState(formatState(state))).toEqual(state);
  });
  it("that make no sense show what they can", () => {
    expect(parseState("#/bfs?n=-4&seed=x&t=99999999999&problem=[1]&steps=never")).toEqual({ ...DEFAULTS, page: "trace", algorithm: "bfs" });
    expect(parseState("")).toEqual(DEFAULTS);
    expect(parseState("#/%E0%A4%A?problem={")).toMatchObject({ page: "trace", problem: null });
  });
});

describe("source", () => {
  it("is split into words without losing any text", () => {
    const line = '        let text = "a // b"; // comment 1 \'x\'';
    const pieces = highlight(line);
    expect(pieces.map(([, text]) => text).join("")).toBe(line);
    expect(pieces.filter(([kind]) => kind)).toEqual([["keyword", "let"], ["string", '"a // b"'], ["comment", "// comment 1 'x'"]]);
    expect(highlight("for x in vec![0.5; n]").filter(([kind]) => kind)).toEqual([["keyword", "for"], ["keyword", "in"], ["macro", "vec!"], ["number", "0.5"]]);
  });
});

describe("documentation", () => {
  it("has headings, paragraphs, lists and code", () => {
    const text = "# Idea\nOne\ntwo.\n\n- a\n  b\n- c\n\n```\nx = 1\n```\nlast";
    expect(blocks(text)).toEqual([
      { kind: "heading", lines: ["Idea"] },
      { kind: "paragraph", lines: ["One", "two."] },
      { kind: "list", lines: ["a b", "c"] },
      { kind: "code", lines: ["x = 1"] },
      { kind: "paragraph", lines: ["last"] },
    ]);
  });
});

describe("saved pictures", () => {
  it("have colors that every program knows", () => {
    expect(plainColor("color(srgb 1 0.5 0)")).toBe("rgb(255, 128, 0)");
    expect(plainColor("rgb(1, 2, 3)")).toBe("rgb(1, 2, 3)");
  });
});
