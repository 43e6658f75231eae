// Where every series of a run is drawn. Decided by location, kind and values; by names only where NAMES (place.ts) says so. Never by the
// algorithm: one from another crate gets its pictures here too.

import type { Color } from "./palette.ts";
import { NAMES, placeClasses, placeCursors, placeEdges, placePointers, polylines } from "./place.ts";
import type { Recording, Series } from "./recording.ts";
import { hasLoops, isPositions } from "./shape.ts";
import type { Problem } from "./trace.ts";

/** Nodes of larger graphs are too small for a value. */
export const NUMBERED = 20;

export type SceneKind = "graph" | "plane" | "strings" | "intervals" | "array";

export interface Colored {
  series: Series;
  color: Color;
}

/** Two one-hot masks that are the first and the last node of a range. */
export interface Range {
  label: string;
  low: Series;
  high: Series;
  color: Color;
}

/** A matrix over pairs of nodes. */
export interface TableScene {
  scalar: Series | null;
  /** Cells that are set to 0 here are blank. */
  known: Series | null;
  pointer: Series | null;
  category: Series | null;
  rows: number[];
  columns: number[];
  /** Only cells on and above the diagonal are used: drawn as a pyramid. */
  isTriangular: boolean;
}

export interface Scene {
  kind: SceneKind;
  nodes: number;
  problem: Problem;
  /** Nodes by row: one row, or one per string. */
  rows: number[][];
  /** Series that the labels of nodes show: positions, order of the nodes, the string of a letter. */
  axis: Series[];
  /** Pointers to the previous node that never change; drawn between the labels. */
  fixedOrder: Series | null;
  /** A linear order of the nodes that changes. */
  order: Series | null;
  letters: Series | null;
  /** Scalars in cells or, in a plane, coordinates; in intervals, start and finish. */
  values: Series[];
  /** Scalar that is written into nodes of a graph. */
  nodeValue: Series | null;
  fill: Series | null;
  ring: Series | null;
  /** Further rows of values, one column per node. */
  strips: Series[];
  cursors: Colored[];
  ranges: Range[];
  /** Pointers drawn as arrows between nodes of the main picture. */
  arrows: Colored[];
  /** Pointers drawn as linked lists, as trees, or as groups of equal rings. */
  chains: Colored[];
  forests: Colored[];
  groups: Series | null;
  /** Inputs that say which edges there are, and their weights. */
  adjacency: Series | null;
  weights: Series | null;
  /** Edges that there are at each step. */
  liveEdges: Series | null;
  edgeMarks: Colored[];
  edgeScalars: Series[];
  tables: TableScene[];
  /** Scalars, masks and categories of the graph, over time. */
  plots: Series[];
  /** Scalar inputs of the graph: levels in the bars of an array. */
  levels: Series[];
  /** In a plane, nodes joined by lines. */
  polylines: number[][];
}

export function buildScene(recording: Recording, problem: Problem): Scene {
  const { nodes, series } = recording;
  const of = (location: string, ...kinds: string[]) =>
    series.filter((one) => one.location === location && (kinds.length === 0 || kinds.includes(one.kind)));
  const inputs = (list: Series[]) => list.filter((one) => one.stage === "input");
  const adjacency = inputs(of("edge", "mask")).find((one) => hasLoops(one.rows[0] ?? [], nodes)) ?? null;
  const letters = inputs(of("node", "categorical"))[0] ?? null;
  const side = letters ? (inputs(of("node", "mask"))[0] ?? null) : null;
  const all = Array.from({ length: nodes }, (_, node) => node);
  const sideRow = side?.rows[0];
  const rows = sideRow ? [0, 1].map((of) => all.filter((node) => sideRow[node] === of)).filter((row) => row.length > 0) : [all];

  const scalarInputs = inputs(of("node", "scalar"));
  const positions = scalarInputs.filter((one) => isPositions(one.rows[0] ?? [], rows));
  const values = scalarInputs.filter((one) => !positions.includes(one));
  const coordinates = NAMES.coordinates.map((name) => values.find((one) => one.name === name));
  const isPlane = coordinates.every(Boolean);
  const isIntervals = values.length === 2 && NAMES.interval.every((name) => Array.isArray(problem[name]));
  const kind: SceneKind = adjacency ? "graph" : letters ? "strings" : isPlane ? "plane" : isIntervals ? "intervals" : "array";

  const scene: Scene = {
    kind,
    nodes,
    problem,
    rows,
    axis: side ? [...positions, side] : positions,
    fixedOrder: null,
    order: null,
    letters,
    values: isPlane ? (coordinates as Series[]) : kind === "graph" ? [] : values,
    nodeValue: null,
    fill: null,
    ring: null,
    strips: isPlane ? values.filter((one) => !coordinates.includes(one)) : kind === "graph" ? values : [],
    cursors: [],
    ranges: [],
    arrows: [],
    chains: [],
    forests: [],
    groups: null,
    adjacency,
    weights: adjacency ? (inputs(of("edge", "scalar"))[0] ?? null) : null,
    liveEdges: null,
    edgeMarks: [],
    edgeScalars: [],
    tables: [],
    plots: of("graph").filter((one) => one.stage !== "input" || one.kind !== "scalar"),
    levels: inputs(of("graph", "scalar")),
    polylines: isPlane ? polylines(problem, nodes) : [],
  };
  const edgeResults = of("edge", "mask").filter((one) => one.isResult);
  placePointers(scene, of("node", "pointer", "permutation", "cyclic_permutation"), edgeResults);
  placeCursors(scene, of("node", "mask_one"));
  const classes = [...of("node", "categorical"), ...of("node", "mask")].filter((one) => one !== letters && one !== side);
  placeClasses(scene, classes);
  const scalars = of("node", "scalar").filter((one) => one.stage !== "input");
  scene.nodeValue = kind === "graph" && nodes <= NUMBERED ? (scalars[0] ?? null) : null;
  scene.strips.push(...scalars.filter((one) => one !== scene.nodeValue));
  placeEdges(scene, of("edge").filter((one) => one !== adjacency && one !== scene.weights));
  return scene;
}

/** The mask that tells whether the prefix that ends at an index pointer is empty; null if the pointer stands for no prefix. */
export function emptyPrefix(scene: Scene, cursor: Series): Series | null {
  return scene.plots.find((one) => one.kind === "mask" && one.name === cursor.name + NAMES.emptyPrefix) ?? null;
}

/** Everything that a scene draws; a test compares it with the probes of every algorithm. */
export function drawnSeries(scene: Scene): Series[] {
  const one = (series: Series | null) => (series ? [series] : []);
  return [
    ...scene.axis,
    ...one(scene.letters),
    ...scene.values,
    ...one(scene.fill),
    ...one(scene.ring),
    ...one(scene.nodeValue),
    ...scene.strips,
    ...scene.cursors.map((cursor) => cursor.series),
    ...scene.ranges.flatMap((range) => [range.low, range.high]),
    ...[...scene.arrows, ...scene.chains, ...scene.forests].map((pointer) => pointer.series),
    ...one(scene.groups),
    ...one(scene.adjacency),
    ...one(scene.weights),
    ...one(scene.liveEdges),
    ...scene.edgeMarks.map((mark) => mark.series),
    ...scene.edgeScalars,
    ...scene.tables.flatMap((table) => [table.scalar, table.known, table.pointer, table.category].flatMap(one)),
    ...scene.plots,
    ...scene.levels,
  ];
}
