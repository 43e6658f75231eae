import { describe, expect, it } from "vitest";
import { recorded } from "../src/model/recording.ts";
import { buildScene, drawnSeries, type Scene } from "../src/model/scene.ts";
import { chains, isChains, isFixedOrder, isGroups, linearOrder } from "../src/model/shape.ts";
import { legend } from "../src/pictures/legend.tsx";
import { names, open, tiny } from "./traces.ts";

describe("every algorithm", () => {
  it.each(names)("%s has a place for every probe", (name) => {
    const { recording, scene, trace } = open(name);
    const drawn = new Set(drawnSeries(scene).flatMap((series) => series.probes.map((probe) => probe.name)));
    expect([...drawn].sort()).toEqual(trace.probes.map((probe) => probe.name).sort());
    expect(new Set(legend(scene).flatMap((entry) => entry.series))).toEqual(new Set(recording.series));
  });

  it("gets the picture of its problem", () => {
    const kind = (name: string) => open(name).scene.kind;
    expect(["bfs_16", "lcs_length_16", "jarvis_march_16", "activity_selector_16", "quicksort_16"].map(kind)).toEqual(["graph", "strings", "plane", "intervals", "array"]);
  });
});

describe("pointers", () => {
  const of = (name: string): Scene => open(name).scene;
  const pointers = (list: Scene["arrows"]) => list.map(({ series, color }) => [series.name, color]);
  it("that become the output are green arrows on the edges", () => {
    expect(pointers(of("bellman_ford_16").arrows)).toEqual([["pi_h", "green"]]);
    expect(pointers(of("dfs_16").chains)).toEqual([["s_prev", "purple"]]);
  });
  it("leave green to an edge mask that is the output", () => {
    expect(pointers(of("bipartite_matching_16").arrows)).toEqual([["pi", "purple"]]);
    expect(pointers(of("bipartite_matching_16").edgeMarks)).toEqual([["in_matching_h", "green"]]);
  });
  it("of an order that changes are arcs, of a fixed one marks between cells", () => {
    expect(of("heapsort_16").order?.name).toBe("pred_h");
    expect(pointers(of("heapsort_16").forests)).toEqual([["parent", "purple"]]);
    expect(of("minimum_16").fixedOrder?.name).toBe("pred_h");
  });
  it("that become an output are never taken for an order of cells, even if they do not change", () => {
    const adjacency = [1, 0, 0, 0, 1, 0, 0, 0, 1];
    const output = { name: "pi", kind: "pointer", stage: "output", values: [0, 0, 1] } as const;
    const hint = { name: "pi_h", kind: "pointer", values: [[0, 0, 1], [0, 0, 1]] } as const;
    const probe = (list: object[]) => buildScene(recorded(tiny(list)), {});
    expect(pointers(probe([{ name: "key", stage: "input", values: [5, 4, 6] }, hint, output]).arrows)).toEqual([["pi_h", "green"]]);
    const still = { ...hint, values: [[0, 1, 2], [0, 1, 2]] };
    expect(pointers(probe([{ name: "adj", stage: "input", location: "edge", kind: "mask", values: adjacency }, still]).arrows)).toEqual([["pi_h", "green"]]);
  });
  it("have shapes", () => {
    const series = (rows: number[][]) => recorded(tiny([{ kind: "pointer", values: rows }], rows.length)).series[0]!;
    expect(linearOrder([2, 1, 1])).toEqual([1, 2, 0]);
    expect(linearOrder([0, 0, 0])).toBeNull();
    expect(linearOrder([1, 0, 2])).toBeNull();
    expect([isChains([0, 0, 1]), isChains([0, 0, 0])]).toEqual([true, false]);
    expect(chains([1, 1, 0, 3])).toEqual([[2, 0, 1]]);
    expect(chains([1, 0, 2])).toEqual([]);
    expect([isGroups([0, 0, 2]), isGroups([0, 0, 1])]).toEqual([true, false]);
    expect(isFixedOrder(series([[0, 0, 1], [0, 0, 1]]))).toBe(true);
    expect(isFixedOrder(series([[0, 0, 1], [0, 1, 1]]))).toBe(false);
  });
});

describe("tables", () => {
  const table = (name: string, index = 0) => open(name).scene.tables[index]!;
  it("of ranges are pyramids, of two strings blocks, of all pairs squares", () => {
    expect(table("matrix_chain_order_16")).toMatchObject({ isTriangular: true, rows: Array.from({ length: 15 }, (_, k) => k + 1) });
    expect(table("lcs_length_16").rows).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(table("lcs_length_16").columns).toEqual([8, 9, 10, 11, 12, 13, 14, 15]);
    expect(table("floyd_warshall_16")).toMatchObject({ isTriangular: false, rows: Array.from({ length: 16 }, (_, k) => k) });
  });
  it("have values, what is known, and choices together", () => {
    const { scalar, known, pointer } = table("optimal_bst_16");
    expect([scalar, known, pointer].map((series) => series?.name)).toEqual(["e", "msk", "root_h"]);
    expect(table("optimal_bst_16", 1).scalar?.name).toBe("w");
  });
});

describe("index pointers", () => {
  it("that are the ends of a range are brackets", () => {
    const { ranges, cursors } = open("find_maximum_subarray_16").scene;
    expect(ranges.map((range) => range.label)).toEqual(["low\u2013high", "left", "right", "cross", "ret", "start\u2013end"]);
    expect(cursors.map(({ series }) => series.name)).toEqual(["mid", "i", "j"]);
  });
  it("have the colors of the paper", () => {
    const colors = (name: string) => Object.fromEntries(open(name).scene.cursors.map(({ series, color }) => [series.name, color]));
    expect(colors("insertion_sort_preset")).toEqual({ i: "red", j: "blue" });
    expect(colors("naive_string_matcher_preset")).toEqual({ s: "blue", i: "red", j: "purple", match: "green" });
  });
});

describe("an algorithm of another crate", () => {
  it("gets pictures from its kinds alone", () => {
    const trace = tiny([
      { name: "where", stage: "input", values: [0, 1 / 3, 2 / 3] },
      { name: "size", stage: "input", values: [3, 1, 2] },
      { name: "color", kind: { categorical: { classes: 4 } }, values: [[0, 1, 2], [3, 1, 2]] },
      { name: "flags", kind: "mask", values: [[0, 1, 0], [1, 1, 1]] },
      { name: "more", kind: "mask", values: [[0, 1, 0], [1, 1, 1]] },
      { name: "pair", location: "edge", kind: "scalar", values: [Array(9).fill(1), Array(9).fill(2)] },
      { name: "why", location: "edge", kind: { categorical: { classes: 2 } }, values: [Array(9).fill(1), Array(9).fill(0)] },
      { name: "also", location: "edge", kind: "mask", values: [Array(9).fill(1), Array(9).fill(0)] },
      { name: "second", location: "edge", kind: "mask", values: [Array(9).fill(1), Array(9).fill(0)] },
      { name: "answer", stage: "output", location: "graph", kind: "mask", values: [1] },
    ]);
    const recording = recorded(trace);
    const scene = buildScene(recording, {});
    expect(new Set(drawnSeries(scene))).toEqual(new Set(recording.series));
    expect(scene.axis.map((series) => series.name)).toEqual(["where"]);
    expect([scene.fill?.name, scene.ring?.name, scene.strips.map((series) => series.name)]).toEqual(["color", "flags", ["more"]]);
  });
});
