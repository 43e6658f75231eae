import { afterEach, describe, expect, it, vi } from "vitest";
import { pageTitle } from "../src/app/app.tsx";
import { highlight } from "../src/app/code.tsx";
import { bounded, nodeLimit, seedLimit } from "../src/app/controls.tsx";
import { server } from "../src/app/data.ts";
import { prefetch } from "../src/app/early.ts";
import { hintScore } from "../src/app/hintplots.tsx";
import { blocks } from "../src/app/markdown.tsx";
import { scrollBy } from "../src/app/networkpage.tsx";
import { plainColor } from "../src/app/save.tsx";
import { DEFAULTS, followingSeed, formatState, MAX_SEED, parseState, type State } from "../src/app/state.ts";

describe("addresses", () => {
  const states: Partial<State>[] = [
    {},
    { page: "training" },
    { page: "trace", algorithm: "bfs" },
    { page: "trace", algorithm: "bfs", size: 8, seed: 0, options: { p: "0.3", graph: "a b&c" }, frame: 4 },
    { page: "trace", algorithm: "mst_prim", compare: "mst_kruskal", frame: 2, otherFrame: 0 },
    { page: "trace", algorithm: "bfs", seed: MAX_SEED },
    { page: "trace", algorithm: "insertion_sort", problem: { key: [5, 2.5, -4], text: "a&b=\u00e4" }, frame: 1 },
    { page: "network", algorithm: "bfs", run: 1, otherRun: 0, sample: 7, count: 8, steps: "fixpoint", size: 64 },
  ];
  it.each(states.map((state) => [JSON.stringify(state), state] as const))("restore %s", (_, change) => {
    const state = { ...DEFAULTS, ...change };
    expect(parseState(formatState(state))).toEqual(state);
  });
  it("that make no sense show what they can", () => {
    expect(parseState("#/bfs?n=-4&seed=x&t=99999999999&problem=[1]&steps=never")).toEqual({ ...DEFAULTS, page: "trace", algorithm: "bfs" });
    expect(parseState(`#/bfs?seed=${MAX_SEED + 1}`)).toMatchObject({ algorithm: "bfs", seed: DEFAULTS.seed });
    expect(parseState("")).toEqual(DEFAULTS);
    expect(parseState("#/%E0%A4%A?problem={")).toMatchObject({ page: "trace", problem: null });
  });
});

describe("seeds", () => {
  it("start again after the largest", () => {
    expect([0, 1, MAX_SEED - 1, MAX_SEED].map(followingSeed)).toEqual([1, 2, MAX_SEED, 0]);
  });
});

describe("titles", () => {
  it("name the page", () => {
    const titles = ["#/", "#/bfs", "#/network", "#/network/bfs", "#/training"].map((hash) => pageTitle(parseState(hash)));
    expect(titles).toEqual(["", "bfs \u2013 ", "Networks \u2013 ", "bfs \u2013 Networks \u2013 ", "Training \u2013 "].map((text) => `${text}clrs explorer`));
  });
});

describe("scores of hints", () => {
  const hint = { name: "pi_h", score: 0.5, per_step: [0.9, 0.6, 0.3, 0.2] };
  it("are those of a step that has one, and the mean elsewhere", () => {
    const labels = (steps: number) => [0, 1, 2, 3, 4, 5].map((frame) => hintScore(hint, frame, steps)).map(({ label, score }) => `${label}: ${score}`);
    // The result of the longest sample, and of a shorter one: neither has a step for it.
    expect(labels(5)).toEqual(["mean: 0.5", "step 2: 0.9", "step 3: 0.6", "step 4: 0.3", "step 5: 0.2", "mean: 0.5"]);
    expect(labels(3)).toEqual(["mean: 0.5", "step 2: 0.9", "step 3: 0.6", "mean: 0.5", "mean: 0.5", "mean: 0.5"]);
  });
});

describe("numbers in fields", () => {
  const size = { value: 16, min: 1, max: 128, limit: nodeLimit };
  it("stay within limits, which are named", () => {
    expect(bounded("7", size)).toEqual({ allowed: 7, note: null });
    expect(bounded("999", size)).toEqual({ allowed: 128, note: "the explorer draws at most 128 nodes" });
    expect(bounded("0", size)).toEqual({ allowed: 1, note: "the explorer draws at least 1 node" });
    expect(bounded("-1", { value: 5, min: 0, max: 9, limit: seedLimit })).toEqual({ allowed: 0, note: "seeds are at least 0" });
  });
  it("keep their value if there is none", () => {
    expect(["", " ", "x"].map((text) => bounded(text, size))).toEqual(Array(3).fill({ allowed: 16, note: null }));
  });
});

describe("lists", () => {
  it("scroll no further than needed", () => {
    const box = { top: 100, bottom: 200 };
    const at = (top: number) => scrollBy({ top, bottom: top + 20 }, box);
    expect([80, 100, 150, 180, 190].map(at)).toEqual([-20, 0, 0, 0, 10]);
  });
});

describe("requests of the first view", () => {
  afterEach(() => vi.unstubAllGlobals());
  const stub = (status = 200) => {
    const asked: string[] = [];
    vi.stubGlobal("window", {});
    vi.stubGlobal("fetch", async (path: string) => (asked.push(path), { status, json: async () => (status === 200 ? { path } : { error: "no" }) }));
    return asked;
  };
  it("are sent before the page needs the answers, and only once", async () => {
    const asked = stub();
    prefetch(parseState("#/bfs?n=8&o.p=0.5&t=3"));
    const trace = "/api/trace?algorithm=bfs&size=8&seed=1&set=p%3D0.5";
    expect(asked).toEqual(["/api/info", trace, "/api/algorithms/bfs"]);
    expect(await server.sample("bfs", { size: 8, seed: 1, options: { p: "0.5" } })).toEqual({ path: trace });
    expect(asked.length).toBe(3);
    await server.sample("bfs", { size: 8, seed: 1, options: { p: "0.5" } });
    expect(asked.length).toBe(4);
  });
  it("of other pages are for what all have in common", () => {
    const asked = stub();
    ["#/", "#/training", "#/network/bfs", "#/bfs?problem={}"].forEach((hash) => prefetch(parseState(hash)));
    expect(new Set(asked)).toEqual(new Set(["/api/info"]));
  });
  it("fail where they are needed", async () => {
    stub(404);
    prefetch(parseState("#/nothing"));
    await expect(server.sample("nothing", DEFAULTS)).rejects.toThrow("no");
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
