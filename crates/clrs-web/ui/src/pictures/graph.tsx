// A graph: nodes with their number and value, fills and rings for classes, edges with weights, pointers as arrows on the edges.

import { placeCallouts, placeEdgeLabels, type EdgeLabel } from "../layout/callouts.ts";
import { between, centered, distance, round, textWidth, type Box, type Point } from "../layout/geometry.ts";
import { fittingRadius, graphOf, layoutGraph, type Graph } from "../layout/graph.ts";
import { short } from "../model/format.ts";
import { classFill } from "../model/palette.ts";
import type { Colored, Scene } from "../model/scene.ts";
import type { Row } from "../model/trace.ts";
import type { View } from "../model/view.ts";
import { checkMark, classes, crossMark, curve, Keep, Pill, pillWidth, probes, type Curve } from "./marks.tsx";
import type { Panel } from "./panel.ts";

/** Room around the nodes for labels. */
const MARGIN = 48;
/** More edges have no arrow heads of their own. */
const MAX_HEADS = 420;
/** With more edges, weights are written on marked edges only. */
const MAX_WEIGHTS = 40;

interface GraphGeometry {
  scene: Scene;
  graph: Graph;
  points: Point[];
  radius: number;
  bounds: Box;
  /** Whether edges of both directions are drawn beside each other. */
  isBent(from: number, to: number): boolean;
  weight(from: number, to: number): number;
  hasWeights: boolean;
  base: BaseEdges;
}

interface BaseEdges {
  lines: string;
  heads: string;
  count: number;
}

export function graphPanel(scene: Scene, width: number, height: number): Panel {
  const { nodes } = scene;
  const adjacency = scene.adjacency?.rows[0] ?? [];
  const graph = graphOf(adjacency, nodes);
  const bounds = { x: 0, y: 0, width, height };
  const inner = { x: MARGIN, y: MARGIN - 8, width: width - 2 * MARGIN, height: height - 2 * MARGIN + 16 };
  const wanted = nodes <= 8 ? 25 : nodes <= 20 ? 19 : nodes <= 36 ? 13 : 9.5;
  const { points } = layoutGraph(graph, inner, wanted);
  const radius = fittingRadius(points, wanted);
  const weights = scene.weights?.rows[0];
  const values = new Set(weights?.filter((_, cell) => adjacency[cell] && Math.floor(cell / nodes) !== cell % nodes));
  const symmetric = new Set([...graph.out.entries()].flatMap(([from, list]) => list.map((to) => from * nodes + to)));
  const isBent = (from: number, to: number) =>
    graph.isDirected && symmetric.has(from * nodes + to) && symmetric.has(to * nodes + from);
  const geometry: GraphGeometry = {
    scene,
    graph,
    points,
    radius,
    bounds,
    isBent,
    weight: (from, to) => weights?.[from * nodes + to] || weights?.[to * nodes + from] || 0,
    hasWeights: values.size > 1,
    base: { lines: "", heads: "", count: 0 },
  };
  geometry.base = baseEdges(geometry, adjacency);
  const labels = staticWeights(geometry);
  const draw = (view: View) => <GraphPicture geometry={geometry} view={view} labels={labels} />;
  return { name: "graph", width, height, draw };
}

/** The path of an edge, from rim to rim. Undirected edges are straight. */
function edgeCurve({ points, radius, isBent }: GraphGeometry, from: number, to: number, head: number): Curve {
  const bend = isBent(from, to) ? Math.min(14, radius * 0.55) : 0;
  return curve(points[from] as Point, points[to] as Point, [radius, radius + 1.5], bend, head);
}

/** All edges but loops: adjacency has one at every node. */
function baseEdges(geometry: GraphGeometry, adjacency: Row): BaseEdges {
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

interface WeightLabel {
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
    width: textWidth(short(geometry.weight(from, to)), 10.5) + 4,
    middle: edgeCurve(geometry, from, to, 0).middle,
  }));
  const places = placeEdgeLabels(requests, 13, points, radius, taken);
  return edges.flatMap(([from, to], index) => {
    const at = places[index];
    return at ? [{ from, to, at, text: short(geometry.weight(from, to)) }] : [];
  });
}

function weightBox({ text, at }: WeightLabel): Box {
  return centered(at, textWidth(text, 10.5) + 4, 13);
}

/** Weights of all edges, if there are few. */
function staticWeights(geometry: GraphGeometry): WeightLabel[] | null {
  const { graph, hasWeights } = geometry;
  const edges = graph.out.flatMap((list, from) => list.filter((to) => graph.isDirected || from < to).map((to): [number, number] => [from, to]));
  return hasWeights && edges.length <= MAX_WEIGHTS ? weightLabels(geometry, edges) : null;
}

function GraphPicture({ geometry, view, labels }: { geometry: GraphGeometry; view: View; labels: WeightLabel[] | null }) {
  const { scene } = geometry;
  const weights = labels ?? shownWeights(geometry, view);
  return (
    <g class="graph">
      {scene.liveEdges ? (
        <LiveEdges geometry={geometry} view={view} />
      ) : (
        <Keep by={geometry}>
          <Edges base={geometry.base} probe={probes(scene.adjacency, scene.weights)} />
        </Keep>
      )}
      {scene.edgeMarks.map((mark) => (
        <MarkedEdges key={mark.series.name} geometry={geometry} view={view} mark={mark} />
      ))}
      {scene.arrows.map((pointer, index) => (
        <Arrows key={pointer.series.name} geometry={geometry} view={view} pointer={pointer} index={index} />
      ))}
      <g data-probe={probes(scene.weights)} class="weights">
        {weights.map(({ from, to, text, at }) => (
          <text key={`${from}-${to}`} x={round(at.x)} y={round(at.y + 3.7)}>
            {text}
          </text>
        ))}
      </g>
      <Nodes geometry={geometry} view={view} />
      <NodeLabels scene={scene} view={view} points={geometry.points} radius={geometry.radius + (scene.ring || scene.groups ? 4 : 0)}
        bounds={geometry.bounds} obstacles={weights.map(weightBox)} />
    </g>
  );
}

function Edges({ base, probe }: { base: BaseEdges; probe: string }) {
  return (
    <g class={classes("edges", base.count > 1000 ? "crowd" : base.count > 300 ? "many" : base.count > 60 && "some")} data-probe={probe}>
      <path class="line" d={base.lines} />
      <path class="head" d={base.heads} />
    </g>
  );
}

/** Edges that change from step to step, with the inputs' faint below them. */
function LiveEdges({ geometry, view }: { geometry: GraphGeometry; view: View }) {
  const { scene } = geometry;
  const row = view.row(scene.liveEdges);
  return (
    <>
      <g class="edges ghost" data-probe={probes(scene.adjacency, scene.weights)}>
        <path class="line" d={geometry.base.lines} />
      </g>
      {row && <Edges base={baseEdges({ ...geometry, isBent: () => false }, row)} probe={probes(scene.liveEdges, ...scene.edgeScalars)} />}
    </>
  );
}

function MarkedEdges({ geometry, view, mark }: { geometry: GraphGeometry; view: View; mark: Colored }) {
  const { nodes } = geometry.scene;
  const row = view.row(mark.series);
  const [changed, wrong] = [view.changed(mark.series), view.wrong(mark.series)];
  const cells: number[] = [];
  row?.forEach((value, cell) => {
    const [from, to] = [Math.floor(cell / nodes), cell % nodes];
    const twin = to * nodes + from;
    const isShown = from !== to && (value === 1 || wrong.has(cell));
    // Both directions of an undirected edge are one line.
    if (isShown && !(row[twin] === 1 && from > to)) {
      cells.push(cell);
    }
  });
  return (
    <g class={classes("edge-marks", `c-${mark.color}`, geometry.radius < 9 && "thin")} data-probe={probes(mark.series)}>
      {cells.map((cell) => {
        const [from, to] = [Math.floor(cell / nodes), cell % nodes];
        const path = curve(geometry.points[from] as Point, geometry.points[to] as Point, [geometry.radius, geometry.radius], 0, 0);
        const isNew = changed.has(cell) || (changed.has(to * nodes + from) && row?.[to * nodes + from] === 1);
        return (
          <g key={cell} class={classes(isNew && "changed", wrong.has(cell) && "wrong", row?.[cell] !== 1 && "missing")} data-cell={cell}>
            {isNew && <path class="halo" d={path.line} />}
            <path class="line" d={path.line} />
            {wrong.has(cell) && <path class="cross" d={crossMark(path.middle.x, path.middle.y, 9)} />}
          </g>
        );
      })}
    </g>
  );
}

function Arrows({ geometry, view, pointer, index }: { geometry: GraphGeometry; view: View; pointer: Colored; index: number }) {
  const row = view.row(pointer.series);
  const [changed, wrong] = [view.changed(pointer.series), view.wrong(pointer.series)];
  const head = Math.min(11, Math.max(6, geometry.radius * 0.62));
  return (
    <g class={`arrows c-${pointer.color}`} data-probe={probes(pointer.series)}>
      {row?.map((to, node) => {
        if (to === node || to >= geometry.points.length) {
          return wrong.has(node) && <MissingArrow key={node} point={geometry.points[node] as Point} radius={geometry.radius} />;
        }
        const bend = geometry.isBent(node, to) ? Math.min(14, geometry.radius * 0.55) : index * 8;
        const rims: [number, number] = [geometry.radius, geometry.radius + 1.5];
        const path = curve(geometry.points[node] as Point, geometry.points[to] as Point, rims, bend, head);
        return (
          <g key={node} class={classes("arrow", changed.has(node) && "changed", wrong.has(node) && "wrong")} data-cell={node}>
            {changed.has(node) && <path class="halo" d={path.line} />}
            <path class="line" d={path.line} />
            <path class="head" d={path.head} />
            {wrong.has(node) && <path class="cross" d={crossMark(path.middle.x, path.middle.y, 9)} />}
          </g>
        );
      })}
    </g>
  );
}

/** A node that wrongly points to itself. */
function MissingArrow({ point, radius }: { point: Point; radius: number }) {
  return <path class="cross" d={crossMark(point.x + radius * 0.9, point.y - radius * 0.9, 8)} />;
}

function Nodes({ geometry, view }: { geometry: GraphGeometry; view: View }) {
  const { scene, points, radius } = geometry;
  const [fill, ring, group, value] = [scene.fill, scene.ring, scene.groups, scene.nodeValue].map((series) => view.row(series));
  const sets = [scene.fill, scene.ring, scene.groups].map((series) => [view.changed(series), view.wrong(series)] as const);
  const changedValue = view.changed(value ? scene.nodeValue : null);
  const isSmall = radius < 15;
  return (
    <g class={classes("nodes", isSmall && "small")} data-probe={probes(...scene.axis, scene.fill, scene.ring, scene.groups, scene.nodeValue)}>
      {points.map((point, node) => {
        const of = fill?.[node] ?? 0;
        const isMask = scene.fill?.kind === "mask";
        const fillClass = scene.fill && fill ? (isMask ? (of === 1 ? "fill-on" : "fill-off") : classFill(scene.fill.classes[of]?.name, of)) : "fill-off";
        const isChanged = sets.some(([changed]) => changed.has(node)) || changedValue.has(node);
        const isWrong = sets.some(([, wrong]) => wrong.has(node));
        const number = value?.[node] ?? 0;
        const hasValue = !isSmall && value && (number !== 0 || of > 0);
        const groupOf = group?.[node];
        const inGroup = groupOf !== undefined && group?.some((other, k) => k !== node && other === groupOf);
        return (
          <g key={node} class={classes("node", fillClass, isChanged && "changed", isWrong && "wrong")} data-cell={node}
            transform={`translate(${round(point.x)} ${round(point.y)})`}>
            {isChanged && <circle class="halo" r={round(radius + 5)} />}
            {inGroup && <circle class={`group g-${groupOf % 6}`} r={round(radius + 3.5)} />}
            {ring?.[node] === 1 && <circle class="ring" r={round(radius + 3.5)} />}
            <circle class="disc" r={round(radius)} />
            <text class="number" y={hasValue ? -1 : isSmall ? round(radius * 0.34) : 4.5} style={isSmall ? { fontSize: `${round(Math.min(9.5, radius * 1.05))}px` } : {}}>
              {node}
            </text>
            {hasValue && (
              <text class={classes("value", changedValue.has(node) && "changed")} y={11}>
                {short(number)}
              </text>
            )}
            {isMask && of === 1 && <path class="check" d={checkMark(radius * 0.72, -radius * 0.72, Math.min(8, radius * 0.6))} />}
            {isChanged && <path class="diamond" d={`M${round(-radius * 0.8)} ${round(-radius * 0.8 - 5)}l5 5l-5 5l-5 -5z`} />}
            {isWrong && <path class="cross" d={crossMark(-radius * 0.8, radius * 0.8, 9)} />}
          </g>
        );
      })}
    </g>
  );
}

export interface NodeLabelsProps {
  scene: Scene;
  view: View;
  points: Point[];
  radius: number;
  bounds: Box;
  obstacles?: Box[];
}

/** Labels of index pointers, those of one node in a row. */
export function NodeLabels({ scene, view, points, radius, bounds, obstacles = [] }: NodeLabelsProps) {
  const byNode = new Map<number, Colored[]>();
  for (const cursor of scene.cursors) {
    const node = view.one(cursor.series);
    if (node !== null && node < points.length) {
      byNode.set(node, [...(byNode.get(node) ?? []), cursor]);
    }
  }
  const groups = [...byNode.entries()];
  const widths = groups.map(([, cursors]) => cursors.reduce((sum, { series }) => sum + pillWidth(series.name) + 2, -2));
  const places = placeCallouts(points, radius, groups.map(([node], k) => ({ node, width: widths[k] as number, height: 17 })), bounds, obstacles);
  const shown = new Set(groups.flatMap(([, cursors]) => cursors));
  return (
    <g class="callouts">
      {groups.map(([node, cursors], k) => {
        const { at } = places[k] as (typeof places)[number];
        const point = points[node] as Point;
        let x = at.x - (widths[k] as number) / 2;
        return (
          <g key={node}>
            <path class="leader" d={leader(point, at, radius)} />
            {cursors.map(({ series, color }) => {
              const width = pillWidth(series.name);
              const center = x + width / 2;
              x += width + 2;
              const isWrong = view.wrong(series).size > 0;
              return (
                <g key={series.name} data-probe={probes(series)}>
                  <Pill x={center} y={at.y} text={series.name} color={color} isNew={view.changed(series).size > 0} stage={series.stage} />
                  {isWrong && <path class="cross" d={crossMark(center + width / 2 - 2, at.y - 7, 8)} />}
                </g>
              );
            })}
          </g>
        );
      })}
      {scene.cursors.map((cursor) => (shown.has(cursor) ? null : <g key={cursor.series.name} data-probe={probes(cursor.series)} />))}
    </g>
  );
}

/** A line from the rim of a node to its label. */
function leader(from: Point, to: Point, radius: number): string {
  const start = between(from, to, Math.min(1, radius / Math.max(distance(from, to), 1e-6)));
  return `M${round(start.x)} ${round(start.y)}L${round(to.x)} ${round(to.y)}`;
}

/** Weights of edges that pointers and marks are on; in large graphs, of those that changed. */
function shownWeights(geometry: GraphGeometry, view: View): WeightLabel[] {
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
    view.row(series)?.forEach((to, from) => (isFew || changed.has(from)) && add(from, to));
  }
  for (const { series } of scene.edgeMarks) {
    const changed = view.changed(series);
    view.row(series)?.forEach((value, cell) => value === 1 && (isFew || changed.has(cell)) && add(Math.floor(cell / scene.nodes), cell % scene.nodes));
  }
  const taken = geometry.points.map((point) => centered(point, 2 * geometry.radius, 2 * geometry.radius));
  return weightLabels(geometry, [...edges.values()], taken);
}

