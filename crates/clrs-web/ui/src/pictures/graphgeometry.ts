// Where the nodes and edges of a graph are drawn. Computed once per picture: nothing moves from step to step.

import { controlPoint, onArc, type Box, type Point } from "../layout/geometry.ts";
import { fittingRadius, graphOf, layoutGraph, wantedRadius, type Graph } from "../layout/graph.ts";
import { routes, type Routes } from "../layout/routes.ts";
import type { Scene } from "../model/scene.ts";
import type { Row } from "../model/trace.ts";
import { curve, type Curve } from "./marks.tsx";

/** Room beside, above and below the nodes for labels. */
const MARGIN = { x: 48, y: 40 };
/** More edges have no arrow heads of their own. */
const MAX_HEADS = 420;

export interface GraphGeometry {
  scene: Scene;
  graph: Graph;
  points: Point[];
  radius: number;
  bounds: Box;
  /** How far an edge is bent to the left: around nodes, and to its own side where there are edges of both directions. */
  bend: Routes;
  weight(from: number, to: number): number;
  hasWeights: boolean;
  base: BaseEdges;
}

/** All edges, as two paths. */
export interface BaseEdges {
  lines: string;
  heads: string;
  count: number;
}

/** The geometry of a graph in a picture of the given width, and of at most the given height. */
export function graphGeometry(scene: Scene, width: number, height: number): GraphGeometry {
  const { nodes } = scene;
  const adjacency = scene.adjacency?.rows[0] ?? [];
  const graph = graphOf(adjacency, nodes);
  const inner = { x: MARGIN.x, y: MARGIN.y, width: width - 2 * MARGIN.x, height: height - 2 * MARGIN.y };
  const wanted = wantedRadius(nodes, inner.width);
  const { points: placed } = layoutGraph(graph, inner, wanted);
  const radius = fittingRadius(placed, wanted);
  const isTwin = (from: number, to: number) => graph.isDirected && hasEdge(graph, from, to) && hasEdge(graph, to, from);
  const side = Math.min(14, radius * 0.55);
  const route = routes(placed, radius, (from, to) => (isTwin(from, to) ? side : 0));
  const bend: Routes = (from, to) => route(from, to) + (isTwin(from, to) ? side : 0);
  const [top, bottom] = extent(graph, placed, bend);
  const points = placed.map(({ x, y }) => ({ x, y: y - top + MARGIN.y }));
  const weights = scene.weights?.rows[0];
  const values = new Set(weights?.filter((_, cell) => adjacency[cell] && Math.floor(cell / nodes) !== cell % nodes));
  const geometry: GraphGeometry = {
    scene,
    graph,
    points,
    radius,
    bounds: { x: 0, y: 0, width, height: bottom - top + 2 * MARGIN.y },
    bend,
    weight: (from, to) => weights?.[from * nodes + to] || weights?.[to * nodes + from] || 0,
    hasWeights: values.size > 1,
    base: { lines: "", heads: "", count: 0 },
  };
  geometry.base = baseEdges(geometry, adjacency);
  return geometry;
}

export function hasEdge(graph: Graph, from: number, to: number): boolean {
  return graph.out[from]?.includes(to) ?? false;
}

/** Top and bottom of all nodes and bent edges. */
function extent(graph: Graph, points: Point[], bend: Routes): [number, number] {
  let [top, bottom] = [Infinity, -Infinity];
  const include = ({ y }: Point) => ([top, bottom] = [Math.min(top, y), Math.max(bottom, y)]);
  points.forEach(include);
  for (const [from, list] of graph.out.entries()) {
    for (const to of list) {
      const [a, b] = [points[from] as Point, points[to] as Point];
      include(onArc(a, controlPoint(a, b, bend(from, to)), b, 0.5));
    }
  }
  return [top, bottom];
}

/** The path of an edge, from rim to rim. */
export function edgeCurve({ points, radius, bend }: GraphGeometry, from: number, to: number, head: number): Curve {
  return curve(points[from] as Point, points[to] as Point, [radius, radius + 1.5], bend(from, to), head);
}

/** All edges of an adjacency matrix but loops: it has one at every node. */
export function baseEdges(geometry: GraphGeometry, adjacency: Row): BaseEdges {
  const { graph, radius } = geometry;
  const { nodes } = graph;
  const count = graph.out.reduce((sum, list) => sum + list.length, 0) / (graph.isDirected ? 1 : 2);
  const head = graph.isDirected && count <= MAX_HEADS ? Math.min(8, radius * 0.5) : 0;
  let [lines, heads] = ["", ""];
  for (let from = 0; from < nodes; from++) {
    for (let to = 0; to < nodes; to++) {
      if (from === to || adjacency[from * nodes + to] !== 1 || (!graph.isDirected && to < from)) {
        continue;
      }
      const path = edgeCurve(geometry, from, to, head);
      lines += path.line;
      heads += path.head;
    }
  }
  return { lines, heads, count };
}
