import { describe, expect, it } from "vitest";
import { placeCallouts, placeEdgeLabels } from "../src/layout/callouts.ts";
import { linePath, niceStep, powers, ticks } from "../src/layout/chart.ts";
import { barScale, columns, labelled } from "../src/layout/columns.ts";
import { beside, flow, stack } from "../src/layout/compose.ts";
import { layoutForest } from "../src/layout/forest.ts";
import { centered, distance, fit, overlaps, type Box, type Point } from "../src/layout/geometry.ts";
import { circle, fittingRadius, flowLayers, graphOf, layoutGraph } from "../src/layout/graph.ts";
import { convexHull } from "../src/layout/hull.ts";
import { shift } from "../src/layout/strings.ts";
import { cellBox, derivation, pyramidLayout, squareLayout } from "../src/layout/table.ts";
import { names, open } from "./traces.ts";

const BOX: Box = { x: 10, y: 20, width: 600, height: 400 };

/** An adjacency matrix with loops. */
function adjacency(nodes: number, edges: [number, number][], isDirected = false): number[] {
  const row = Array.from({ length: nodes * nodes }, (_, cell) => (Math.floor(cell / nodes) === cell % nodes ? 1 : 0));
  for (const [from, to] of edges) {
    row[from * nodes + to] = 1;
    if (!isDirected) {
      row[to * nodes + from] = 1;
    }
  }
  return row;
}

function inside(point: Point, box: Box): boolean {
  return point.x >= box.x - 0.01 && point.y >= box.y - 0.01 && point.x <= box.x + box.width + 0.01 && point.y <= box.y + box.height + 0.01;
}

describe("graphs", () => {
  const graphs = names.filter((name) => open(name).scene.kind === "graph");
  it.each(graphs)("%s has nodes in the box, apart, and always at the same places", (name) => {
    const { scene } = open(name);
    const graph = graphOf(scene.adjacency!.rows[0]!, scene.nodes);
    const { points } = layoutGraph(graph, BOX, 15);
    expect(points).toEqual(layoutGraph(graph, BOX, 15).points);
    expect(points.every((point) => inside(point, BOX))).toBe(true);
    expect(fittingRadius(points, 15)).toBeGreaterThan(9);
  });
  it("with few edges have their neighbors near", () => {
    const path = graphOf(adjacency(7, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6]]), 7);
    const { kind, points } = layoutGraph(path, BOX, 10);
    expect(kind).toBe("stress");
    expect(distance(points[0]!, points[1]!)).toBeLessThan(0.3 * distance(points[0]!, points[6]!));
  });
  it("with all edges are circles", () => {
    const all = Array.from({ length: 8 }, (_, a) => Array.from({ length: a }, (_, b): [number, number] => [a, b])).flat();
    expect(layoutGraph(graphOf(adjacency(8, all), 8), BOX, 10).kind).toBe("circle");
    const points = circle(12, BOX);
    const gaps = points.map((point, index) => distance(point, points[(index + 1) % 12]!));
    expect(Math.max(...gaps) / Math.min(...gaps)).toBeLessThan(1.1);
  });
  it("that lead from layer to layer are drawn in columns", () => {
    const flow = graphOf(adjacency(6, [[0, 1], [0, 2], [1, 3], [2, 4], [3, 5], [4, 5]], true), 6);
    expect(flowLayers(flow)).toEqual([0, 1, 1, 2, 2, 3]);
    expect(flowLayers(graphOf(adjacency(6, [[0, 1], [1, 2], [0, 2], [3, 4], [4, 5]], true), 6))).toBeNull();
    expect(flowLayers(graphOf(adjacency(6, [[0, 1], [1, 2]]), 6))).toBeNull();
  });
});

describe("labels", () => {
  it("beside nodes cover neither nodes nor each other", () => {
    const points = circle(16, { x: 60, y: 60, width: 480, height: 380 });
    const bounds = { x: 0, y: 0, width: 600, height: 500 };
    const requests = [0, 1, 2, 9].map((node) => ({ node, width: 70, height: 16 }));
    const boxes = placeCallouts(points, 14, requests, bounds).map(({ at }) => centered(at, 70, 16));
    boxes.forEach((box, index) => {
      expect(boxes.slice(0, index).some((other) => overlaps(box, other))).toBe(false);
      expect(points.some((point) => overlaps(box, centered(point, 20, 20)))).toBe(false);
    });
  });
  it("on edges are left out where there is no room", () => {
    const [a, b] = [{ x: 0, y: 0 }, { x: 200, y: 0 }];
    const label = { from: a, to: b, width: 30 };
    const places = placeEdgeLabels([label, label, label, label, label], 12, [a, b], 10);
    expect(places.filter(Boolean).length).toBe(3);
    expect(placeEdgeLabels([{ from: a, to: { x: 30, y: 0 }, width: 30 }], 12, [], 10)).toEqual([null]);
  });
});

describe("columns", () => {
  it("have numbers only where they fit", () => {
    expect(columns(16, 60, 1000, 58).hasText).toBe(true);
    const narrow = columns(64, 60, 1000, 58);
    expect(narrow.hasText).toBe(false);
    expect(narrow.x(63)).toBeLessThan(1000);
    expect([0, 1, 2].map(labelled(narrow, 10))).toEqual([true, false, true]);
  });
  it("have bars from zero", () => {
    const scale = barScale([[-1, 3], [0, 1]]);
    expect([scale.zero, scale.of(-1), scale.of(3), scale.of(NaN)]).toEqual([0.25, 0, 1, 0]);
    expect(barScale([[0, 0]]).of(0)).toBe(0);
  });
});

describe("trees", () => {
  it("have parents above the middle of their children", () => {
    const { nodes, depth, slots } = layoutForest([0, 0, 0, 1, 1, 5]);
    expect([depth, slots]).toEqual([2, 4]);
    expect(nodes[1]!.slot).toBe((nodes[3]!.slot + nodes[4]!.slot) / 2);
    expect(nodes.map((node) => node.depth)).toEqual([0, 1, 1, 2, 2, 0]);
  });
  it("are complete even if pointers form a cycle", () => {
    expect(layoutForest([1, 2, 0, 3]).nodes.map((node) => node.node)).toEqual([0, 1, 2, 3]);
  });
});

describe("tables", () => {
  it("keep their cells apart", () => {
    for (const layout of [squareLayout(5, 5, 300, 300), pyramidLayout(5, 300, 300)]) {
      const boxes = Array.from({ length: 5 }, (_, row) => Array.from({ length: 5 - row }, (_, k) => cellBox(layout, row, row + k))).flat();
      boxes.forEach((box, index) => expect(boxes.slice(0, index).some((other) => overlaps(box, other, -0.01))).toBe(false));
      expect(boxes.every((box) => box.x >= 0 && box.y >= 0 && box.x + box.width <= layout.width && box.y + box.height <= layout.height)).toBe(true);
    }
  });
  it("follow splits down to single nodes", () => {
    const cells = derivation(0, 3, (row, column) => (row < column ? row : null));
    expect(cells.sort()).toEqual([[0, 0], [0, 3], [1, 1], [1, 3], [2, 2], [2, 3], [3, 3]]);
    expect(derivation(0, 1, () => 7)).toEqual([[0, 1]]);
  });
});

describe("strings", () => {
  it("are shifted to where their letters are compared", () => {
    expect([shift(5, 2, [9, 4]), shift(0, 2, [9, 4]), shift(null, 2, [9, 4]), shift(20, 0, [9, 4])]).toEqual([3, 0, 0, 8]);
  });
});

describe("points", () => {
  it("fit into their box and keep their shape", () => {
    const points = fit([{ x: 0, y: 0 }, { x: 2, y: 1 }], BOX);
    expect(points.every((point) => inside(point, BOX))).toBe(true);
    expect((points[1]!.x - points[0]!.x) / (points[1]!.y - points[0]!.y)).toBeCloseTo(2);
    expect(fit([{ x: 3, y: 3 }], BOX)).toEqual([{ x: 310, y: 220 }]);
  });
  it("have a hull", () => {
    const corners = [{ x: 0, y: 0 }, { x: 4, y: 0 }, { x: 4, y: 4 }, { x: 0, y: 4 }];
    expect(new Set(convexHull([...corners, { x: 1, y: 2 }, { x: 2, y: 0 }]))).toEqual(new Set(corners));
  });
});

describe("panels", () => {
  const panel = (width: number, height: number) => ({ width, height });
  const boxes = (placed: { panel: { width: number; height: number }; x: number; y: number }[]) => placed.map(({ panel, x, y }) => ({ x, y, ...panel }));
  it("flow in rows that fit", () => {
    const { placed, width, height } = flow([panel(60, 10), panel(60, 30), panel(200, 20)], 140, 10);
    expect(placed.map(({ x, y }) => [x, y])).toEqual([[35, 10], [105, 0], [0, 40]]);
    expect([width, height]).toEqual([200, 60]);
  });
  it("never overlap", () => {
    const side = beside(panel(100, 100), [panel(50, 30), panel(40, 90)], 10);
    const all = boxes(stack(side, flow([panel(170, 20)], 200, 10), 10).placed);
    all.forEach((box, index) => expect(all.slice(0, index).some((other) => overlaps(box, other))).toBe(false));
    expect(side).toMatchObject({ width: 160, height: 130 });
  });
});

describe("charts", () => {
  it("have round numbers on their axes", () => {
    expect(ticks(0, 100, 5)).toEqual([0, 20, 40, 60, 80, 100]);
    expect(ticks(0, 7, 3)).toEqual([0, 5]);
    expect([0.3, 1, 3, 70].map(niceStep)).toEqual([0.5, 1, 5, 100]);
    expect(powers(0.3, 20)).toEqual([0.1, 1, 10, 100]);
  });
  it("leave out what is missing", () => {
    expect(linePath([[0, 1], [1, NaN], [2, 3]], (x) => x, (y) => y)).toBe("M0.0 1.0M2.0 3.0");
  });
});
