// Positions of the nodes of a graph. They depend on the graph alone, so that two algorithms on one graph have the same picture.

import { between, distance, fit, type Box, type Point } from "./geometry.ts";
import { distances } from "./paths.ts";
import { spread, stress } from "./stress.ts";
import type { Row } from "../model/trace.ts";

export type GraphLayoutKind = "layers" | "stress" | "circle";

export interface GraphLayout {
  kind: GraphLayoutKind;
  points: Point[];
}

/** Lists of neighbors, without loops. */
export interface Graph {
  nodes: number;
  out: number[][];
  /** Neighbors in either direction. */
  near: number[][];
  isDirected: boolean;
}

export function graphOf(adjacency: Row, nodes: number): Graph {
  const has = (from: number, to: number) => from !== to && adjacency[from * nodes + to] === 1;
  const all = Array.from({ length: nodes }, (_, node) => node);
  const out = all.map((from) => all.filter((to) => has(from, to)));
  const near = all.map((from) => all.filter((to) => has(from, to) || has(to, from)));
  const isDirected = all.some((from) => all.some((to) => has(from, to) && !has(to, from)));
  return { nodes, out, near, isDirected };
}

/** Lays a graph out in a box, with `radius` around each node. */
export function layoutGraph(graph: Graph, box: Box, radius: number): GraphLayout {
  const layers = flowLayers(graph);
  if (layers) {
    return { kind: "layers", points: columns(layers, graph.nodes, box) };
  }
  const edges = graph.near.reduce((sum, list) => sum + list.length, 0) / 2;
  const isSparse = edges <= 2.5 * graph.nodes;
  if (graph.nodes > 4 && (isSparse || isClustered(graph))) {
    const points = fit(stress(graph.near, box.width / box.height), box, 1.35);
    return { kind: "stress", points: spread(points, graph.near, box, 2.6 * radius, 1.5 * radius) };
  }
  return { kind: "circle", points: circle(graph.nodes, box) };
}

/** Largest ratio of the axes of an ellipse of nodes. */
const ROUND = 1.5;

/** Nodes clockwise from the top of an ellipse, at equal distances along it; a square for four. */
export function circle(nodes: number, box: Box): Point[] {
  const center = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  const ratio = nodes === 4 ? 1 : ROUND;
  const [width, height] = [Math.min(box.width, box.height * ratio), Math.min(box.height, box.width * ratio)];
  const at = (angle: number) => ({ x: center.x + (width / 2) * Math.cos(angle), y: center.y + (height / 2) * Math.sin(angle) });
  const start = -Math.PI / 2 - (nodes === 4 ? Math.PI / 4 : 0);
  const steps = 16 * nodes;
  const rim = Array.from({ length: steps + 1 }, (_, k) => at(start + (2 * Math.PI * k) / steps));
  const lengths = [0];
  for (let k = 1; k <= steps; k++) {
    lengths.push((lengths[k - 1] as number) + distance(rim[k - 1] as Point, rim[k] as Point));
  }
  const total = lengths[steps] as number;
  let k = 0;
  return Array.from({ length: nodes }, (_, node) => {
    while ((lengths[k + 1] ?? Infinity) < (total * node) / nodes - 1e-9) {
      k += 1;
    }
    const piece = ((total * node) / nodes - (lengths[k] as number)) / Math.max((lengths[k + 1] as number) - (lengths[k] as number), 1e-9);
    return between(rim[k] as Point, rim[k + 1] as Point, piece);
  });
}

/** Whether distances are long for so many edges: there are dense parts with few edges between them. */
function isClustered(graph: Graph): boolean {
  let [sum, pairs] = [0, 0];
  for (const row of distances(graph.near)) {
    for (const length of row) {
      if (Number.isFinite(length) && length > 0) {
        sum += length;
        pairs += 1;
      }
    }
  }
  return pairs > 0 && sum / pairs > 2.15;
}

/** Layers of a network in which all edges lead from a layer to the next, with several nodes in most; null for other graphs. */
export function flowLayers(graph: Graph): number[] | null {
  const { nodes, out, near } = graph;
  if (!graph.isDirected || nodes < 5) {
    return null;
  }
  // A node without edges is in the layer of the node before it.
  const layer: (number | undefined)[] = Array.from({ length: nodes }, () => undefined);
  for (let start = 0; start < nodes; start++) {
    if (layer[start] !== undefined || near[start]?.length === 0) {
      continue;
    }
    layer[start] = 0;
    const queue = [start];
    for (let head = 0; head < queue.length; head++) {
      const node = queue[head] as number;
      for (const next of near[node] ?? []) {
        const expected = (layer[node] as number) + (out[node]?.includes(next) ? 1 : -1);
        if (layer[next] === undefined) {
          layer[next] = expected;
          queue.push(next);
        } else if (layer[next] !== expected) {
          return null;
        }
      }
    }
  }
  let last = 0;
  const layers = layer.map((value) => (last = value ?? last));
  const first = Math.min(...layers);
  const count = Math.max(...layers) - first + 1;
  return count > 1 && count <= nodes / 2 + 1 && count <= 6 ? layers.map((value) => value - first) : null;
}

function columns(layers: number[], nodes: number, box: Box): Point[] {
  const count = Math.max(...layers) + 1;
  const members = Array.from({ length: count }, (_, layer) => layers.flatMap((of, node) => (of === layer ? [node] : [])));
  const points: Point[] = Array.from({ length: nodes }, () => ({ x: 0, y: 0 }));
  for (const [layer, list] of members.entries()) {
    const x = box.x + (box.width * layer) / Math.max(count - 1, 1);
    for (const [index, node] of list.entries()) {
      points[node] = { x, y: box.y + (box.height * (index + 0.5)) / list.length };
    }
  }
  return points;
}

/** The radius that nodes have if nothing is in their way: smaller the more there are, and in narrow pictures. */
export function wantedRadius(nodes: number, width: number): number {
  const wanted = nodes <= 8 ? 25 : nodes <= 20 ? 19 : nodes <= 36 ? 13 : 9.5;
  return Math.min(wanted, Math.max(width / 19, 9.5));
}

/** The largest radius, up to `max`, at which no two nodes touch. */
export function fittingRadius(points: Point[], max: number): number {
  let least = Infinity;
  for (let a = 0; a < points.length; a++) {
    for (let b = 0; b < a; b++) {
      least = Math.min(least, distance(points[a] as Point, points[b] as Point));
    }
  }
  return Math.max(4, Math.min(max, least * 0.42));
}
