import { describe, expect, it } from "vitest";
import { placeBeside, placeCallouts, placeEdgeLabels } from "../src/layout/callouts.ts";
import { linePath, niceStep, powers, spread, ticks } from "../src/layout/chart.ts";
import { barScale, columns, labelled } from "../src/layout/columns.ts";
import { beside, flow, stack } from "../src/layout/compose.ts";
import { layoutForest } from "../src/layout/forest.ts";
import { centered, distance, fit, overlaps, touches, type Box, type Point } from "../src/layout/geometry.ts";
import { circle, fittingRadius, flowLayers, graphOf, layoutGraph, wantedRadius } from "../src/layout/graph.ts";
import { convexHull } from "../src/layout/hull.ts";
import { clearance, routes } from "../src/layout/routes.ts";
import { compare } from "../src/layout/strings.ts";
import { cellAt, cellBox, cellCenter, derivation, pyramidLayout, squareLayout, traceback } from "../src/layout/table.ts";
import { single } from "../src/model/recording.ts";
import { graphGeometry } from "../src/pictures/graphgeometry.ts";
import { comparedLetters } from "../src/pictures/strings.tsx";
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
  it.each(graphs)("%s has no edge that passes through a node", (name) => {
    const { scene } = open(name);
    const graph = graphOf(scene.adjacency!.rows[0]!, scene.nodes);
    for (const width of [264, 460, 880]) {
      const wanted = wantedRadius(scene.nodes, width);
      const { points } = layoutGraph(graph, { x: 48, y: 40, width, height: 420 }, wanted);
      const radius = fittingRadius(points, wanted);
      const bend = routes(points, radius);
      const edges = graph.near.flatMap((list, from) => list.map((to) => [from, to] as const));
      const others = (...ends: number[]) => points.filter((_, node) => !ends.includes(node));
      const free = edges.map(([from, to]) => clearance(points[from]!, points[to]!, bend(from, to), others(from, to)));
      expect(Math.min(Infinity, ...free)).toBeGreaterThan(radius);
      expect(edges.filter(([from, to]) => bend(from, to) + bend(to, from) !== 0)).toEqual([]);
    }
  });
  it.each(graphs)("%s is as high as its nodes need, with room for labels", (name) => {
    const { scene } = open(name);
    const { points, bounds } = graphGeometry(scene, 600, 400);
    const ys = points.map((point) => point.y);
    expect(Math.min(...ys)).toBeGreaterThanOrEqual(40 - 0.01);
    expect(bounds.height - Math.max(...ys)).toBeGreaterThanOrEqual(40 - 0.01);
    expect(bounds.height).toBeLessThanOrEqual(480);
  });
  it("bend edges only where they must", () => {
    const line = [0, 100, 200].map((x) => ({ x, y: 50 }));
    const bend = routes(line, 10);
    expect([bend(0, 1), bend(1, 2)]).toEqual([0, 0]);
    expect(Math.abs(bend(0, 2))).toBeGreaterThan(10);
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
    const label = { from: a, to: b, bend: 0, width: 30 };
    const places = placeEdgeLabels([label, label, label, label, label], 12, [a, b], 10);
    expect(places.filter(Boolean).length).toBe(3);
    expect(placeEdgeLabels([{ from: a, to: { x: 30, y: 0 }, bend: 0, width: 30 }], 12, [], 10)).toEqual([null]);
  });
  it("are beside short edges, which they would hide, and on them only if both sides are taken", () => {
    const [a, b] = [{ x: 0, y: 0 }, { x: 70, y: 0 }];
    const label = { from: a, to: b, bend: 0, width: 30 };
    const place = (...others: number[]) => {
      const edges = others.map((y) => ({ from: { x: -200, y }, to: { x: 270, y }, bend: 0, width: 20 }));
      return placeEdgeLabels([label, ...edges], 12, [a, b], 10)[0];
    };
    expect(Math.abs(place()?.y ?? 0)).toBe(7);
    expect(place(7)?.y).toBe(-7);
    expect(place(-7)?.y).toBe(7);
    expect(place(7, -7)?.y).toBe(0);
  });
  it("beside points cover neither points nor each other", () => {
    const points = [{ x: 50, y: 50 }, { x: 58, y: 50 }, { x: 90, y: 5 }, { x: 20, y: 80 }, { x: 20, y: 92 }];
    const size = { width: 12, height: 11 };
    const places = placeBeside(points, 5, points.map(() => size), { x: 0, y: 0, width: 100, height: 100 });
    const boxes = places.map((at) => at && centered(at, size.width, size.height));
    expect(boxes.every(Boolean)).toBe(true);
    boxes.forEach((box, index) => {
      expect(box && box.y >= 0 && box.y + box.height <= 100).toBe(true);
      expect(boxes.slice(0, index).some((other) => box && other && overlaps(box, other))).toBe(false);
      expect(points.some((point) => box && touches(box, point, 4))).toBe(false);
    });
    expect(placeBeside(points.slice(0, 1), 5, [size], { x: 44, y: 44, width: 12, height: 12 })).toEqual([null]);
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
  it("of arrows lead back to their beginning", () => {
    const arrows = ["\u2196\u2190", "\u2191\u2196"];
    expect(traceback(2, 2, (row, column) => arrows[row]?.[column])).toEqual([[1, 1], [0, 0]]);
    expect(traceback(2, 1, (row, column) => arrows[row]?.[column])).toEqual([[1, 0], [0, 0]]);
    expect(traceback(2, 2, () => "x")).toEqual([]);
    expect(traceback(2, 2, () => undefined)).toEqual([]);
  });
  it("keep their cells apart", () => {
    for (const layout of [squareLayout(5, 5, 300, 300), pyramidLayout(5, 300, 300)]) {
      expect(cellAt(layout, 5, 5, cellCenter(layout, 1, 3))).toEqual({ row: 1, column: 3 });
      expect(cellAt(layout, 5, 5, cellCenter(layout, 2, 2))).toEqual({ row: 2, column: 2 });
      expect(cellAt(layout, 5, 5, { x: 0, y: 0 })).toBe(null);
      expect(cellAt(layout, 5, 5, cellCenter(layout, 5, 5))).toBe(null);
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
    const at = (above: number | null, below: number) => compare({ above, below, isEmpty: null }, [9, 4]);
    expect(at(5, 2)).toEqual({ shift: 3, current: 2 });
    expect([at(0, 2), at(20, 0)].map(({ shift }) => shift)).toEqual([0, 8]);
    expect(at(null, 2)).toEqual({ shift: 0, current: null });
  });
  it("are compared at the letter after a prefix", () => {
    expect(compare({ above: 5, below: 2, isEmpty: false }, [9, 4])).toEqual({ shift: 2, current: 3 });
    expect(compare({ above: 5, below: 0, isEmpty: true }, [9, 4])).toEqual({ shift: 5, current: 0 });
    expect(compare({ above: 0, below: 2, isEmpty: true }, [9, 4])).toEqual({ shift: 0, current: null });
  });
  const matchers = names.filter((name) => comparedLetters(open(name).scene) !== null);
  it.each(matchers)("%s has equal letters above each other up to the one that is read", (name) => {
    const { scene, recording, trace } = open(name);
    const { text, pattern } = trace.problem as { text: string; pattern: string };
    const compared = comparedLetters(scene)!;
    let count = 0;
    for (let frame = 0; frame < recording.frames; frame++) {
      const { shift, current } = compared((series) => single(series, frame), frame === recording.steps);
      if (current !== null) {
        expect(text.slice(shift, shift + current)).toBe(pattern.slice(0, current));
        expect(shift + current === recording.get("i")!.at(frame)![0] || frame === recording.steps).toBe(true);
        count += 1;
      }
    }
    expect(count).toBeGreaterThan(1);
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
  it("mark some of many points", () => {
    const points = Array.from({ length: 100 }, (_, k) => k);
    expect(spread(points, 4)).toEqual([0, 33, 66, 99]);
    expect([0, 1, 3].map((count) => spread(points.slice(0, count), 4))).toEqual([[], [0], [0, 1, 2]]);
    expect(spread(points, 1)).toEqual([0]);
  });
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
