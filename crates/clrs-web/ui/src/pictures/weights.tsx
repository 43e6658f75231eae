// Weights on the edges of a graph, where they fit.

import { placeEdgeLabels, type EdgeLabel } from "../layout/callouts.ts";
import { centered, round, textWidth, type Box, type Point } from "../layout/geometry.ts";
import { short } from "../model/format.ts";
import type { Series } from "../model/recording.ts";
import type { View } from "../model/view.ts";
import type { GraphGeometry } from "./graphgeometry.ts";
import { probes } from "./marks.tsx";

/** With more edges, weights are written on marked edges only. */
const MAX_WEIGHTS = 40;
const FONT = 10.5;
const HEIGHT = 13;

export interface WeightLabel {
  from: number;
  to: number;
  text: string;
  at: Point;
}

/** Weights of the given edges, where they fit. */
function weightLabels(geometry: GraphGeometry, edges: [number, number][], taken: Box[] = []): WeightLabel[] {
  const { points, radius } = geometry;
  const requests: EdgeLabel[] = edges.map(([from, to]) => ({
    from: points[from] as Point,
    to: points[to] as Point,
    width: labelWidth(short(geometry.weight(from, to))),
    bend: geometry.bend(from, to),
  }));
  const places = placeEdgeLabels(requests, HEIGHT, points, radius, taken);
  return edges.flatMap(([from, to], index) => {
    const at = places[index];
    return at ? [{ from, to, at, text: short(geometry.weight(from, to)) }] : [];
  });
}

function labelWidth(text: string): number {
  return textWidth(text, FONT) + 5;
}

/** Labels on a ground of their own: a line through a number would look like a sign. */
export function Weights({ of, labels }: { of: Series | null; labels: WeightLabel[] }) {
  return (
    <g class="weights" data-probe={probes(of)}>
      {labels.map((label) => {
        const { x, y, width, height } = weightBox(label);
        return (
          <g key={`${label.from}-${label.to}`}>
            <rect x={round(x)} y={round(y)} width={round(width)} height={height} rx={3} />
            <text x={round(label.at.x)} y={round(label.at.y + 3.7)}>
              {label.text}
            </text>
          </g>
        );
      })}
    </g>
  );
}

export function weightBox({ text, at }: WeightLabel): Box {
  return centered(at, labelWidth(text), HEIGHT);
}

/** Weights of all edges, if there are few. */
export function staticWeights(geometry: GraphGeometry): WeightLabel[] | null {
  const { graph, hasWeights } = geometry;
  const edges = graph.out.flatMap((list, from) => list.filter((to) => graph.isDirected || from < to).map((to): [number, number] => [from, to]));
  return hasWeights && edges.length <= MAX_WEIGHTS ? weightLabels(geometry, edges) : null;
}

/** Weights of edges that pointers and marks are on; in large graphs, of those that changed. */
export function shownWeights(geometry: GraphGeometry, view: View): WeightLabel[] {
  const { scene, hasWeights } = geometry;
  if (!hasWeights) {
    return [];
  }
  const isFew = scene.nodes <= 24;
  const edges = new Map<string, [number, number]>();
  const add = (from: number, to: number) => {
    if (from !== to && geometry.weight(from, to)) {
      edges.set(`${Math.min(from, to)}-${Math.max(from, to)}`, [from, to]);
    }
  };
  for (const { series } of scene.arrows) {
    const changed = view.changed(series);
    view.row(series)?.forEach((to, node) => (isFew || changed.has(node)) && add(to, node));
  }
  for (const { series } of scene.edgeMarks) {
    const changed = view.changed(series);
    view.row(series)?.forEach((value, cell) => value === 1 && (isFew || changed.has(cell)) && add(Math.floor(cell / scene.nodes), cell % scene.nodes));
  }
  const taken = geometry.points.map((point) => centered(point, 2 * geometry.radius, 2 * geometry.radius));
  return weightLabels(geometry, [...edges.values()], taken);
}
