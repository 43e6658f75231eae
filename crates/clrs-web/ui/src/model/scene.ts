// Where every series of a run is drawn. Decided by location, kind and values; by names only where NAMES says so. Never by the
// algorithm: one from another crate gets its pictures here too.

import { EDGE_COLORS, POINTER_COLORS, cursorColors, type Color } from "./palette.ts";
import type { Recording, Series } from "./recording.ts";
import { always, hasLoops, isChains, isConstant, isFixedOrder, isGroups, isOnEdges, isPositions, linearOrder } from "./shape.ts";
import type { Problem, Row } from "./trace.ts";

/** The conventions about names that pictures rely on. */
export const NAMES = {
  /** Inputs that are coordinates in the plane. */
  coordinates: ["x", "y"],
  /** Fields of a problem that are the ends of intervals; they are its two scalar inputs. */
  interval: ["start", "finish"],
  /** Endings of the names of two one-hot masks that are the ends of a range. */
  ranges: [
    ["low", "high"],
    ["start", "end"],
  ],
} as const;

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

/** Fields of a problem that are lists of points; with several of them, the points of each are joined. */
function polylines(problem: Problem, nodes: number): number[][] {
  const isPoint = (value: unknown) => Array.isArray(value) && value.length === 2 && value.every((x) => typeof x === "number");
  const lists = Object.values(problem).filter((value): value is unknown[] => Array.isArray(value) && value.every(isPoint));
  const lengths = lists.map((list) => list.length);
  if (lists.length < 2 || lengths.reduce((sum, length) => sum + length, 0) !== nodes) {
    return [];
  }
  let next = 0;
  return lengths.map((length) => Array.from({ length }, () => next++));
}

function placePointers(scene: Scene, pointers: Series[], results: Series[]) {
  // What becomes an output is drawn most prominently. Green is for the result.
  const sorted = [...pointers].sort((a, b) => Number(b.isResult) - Number(a.isResult));
  const edges = scene.adjacency?.rows[0];
  const isAlongEdges = (row: Row) =>
    edges !== undefined && row.every((to, node) => to === node || edges[node * scene.nodes + to] || edges[to * scene.nodes + node]);
  const hasResult = results.length > 0 && !sorted[0]?.isResult;
  let colors = hasResult ? 1 : 0;
  const colored = (series: Series): Colored => ({ series, color: POINTER_COLORS[colors++ % POINTER_COLORS.length] as Color });
  for (const series of sorted) {
    const isFixed = isFixedOrder(series);
    if (isFixed && !scene.fixedOrder) {
      scene.fixedOrder = series;
      scene.axis.push(series);
    } else if (scene.kind === "plane" || scene.kind === "strings") {
      scene.arrows.push(colored(series));
    } else if (scene.kind === "graph") {
      if (scene.arrows.length === 0 && always(series, isAlongEdges)) {
        scene.arrows.push(colored(series));
      } else if (always(series, isChains)) {
        scene.chains.push(colored(series));
      } else if (series.isResult && !scene.groups && always(series, isGroups)) {
        scene.groups = series;
      } else {
        scene.forests.push(colored(series));
      }
    } else if (!scene.order && always(series, (row) => linearOrder(row) !== null)) {
      scene.order = series;
      scene.arrows.push(colored(series));
    } else {
      scene.forests.push(colored(series));
    }
  }
}

function placeCursors(scene: Scene, masks: Series[]) {
  const taken = new Set<Series>();
  const pairs: [string, Series, Series][] = [];
  for (const [first, last] of NAMES.ranges) {
    for (const low of masks.filter((one) => one.name.endsWith(first))) {
      const prefix = low.name.slice(0, -first.length);
      const high = masks.find((one) => one.name === prefix + last && one.stage === low.stage);
      if (high) {
        pairs.push([prefix.replace(/_$/, "") || `${first}\u2013${last}`, low, high]);
        taken.add(low).add(high);
      }
    }
  }
  const single = masks.filter((one) => !taken.has(one));
  const isHint = (one: Series) => one.stage === "hint";
  const hints = single.filter(isHint).map((one) => one.name);
  const colors = cursorColors([...hints, ...pairs.filter(([, low]) => isHint(low)).map(([label]) => label)]);
  const color = (name: string, of: Series) => colors.get(name) ?? (of.stage === "input" ? "gray" : "green");
  scene.cursors = single.map((series) => ({ series, color: color(series.name, series) }));
  scene.ranges = pairs.map(([label, low, high]) => ({ label, low, high, color: color(label, low) }));
}

function placeClasses(scene: Scene, classes: Series[]) {
  for (const series of classes) {
    if (!scene.fill) {
      scene.fill = series;
    } else if (!scene.ring && series.kind === "mask" && !scene.groups) {
      scene.ring = series;
    } else {
      scene.strips.push(series);
    }
  }
}

function placeEdges(scene: Scene, list: Series[]) {
  const edges = scene.adjacency?.rows[0];
  const isOn = (series: Series) => edges !== undefined && always(series, (row) => isOnEdges(row, scene.nodes, edges));
  const isGraph = (series: Series) =>
    series.kind === "mask" && !series.isResult && isOn(series) && always(series, (row) => hasLoops(row, scene.nodes));
  const hasEdges = edges?.some((value, cell) => value === 1 && Math.floor(cell / scene.nodes) !== cell % scene.nodes) ?? false;
  const equalsInput = (series: Series) => hasEdges && always(series, (row) => row.every((value, cell) => value === edges?.[cell]));
  // A graph that never changes and is another one, such as the transposed, is a table.
  scene.liveEdges = list.find((series) => isGraph(series) && (!isConstant(series) || equalsInput(series))) ?? null;
  const scalarHints = list.filter((series) => series.kind === "scalar");
  const onEdges = scene.liveEdges ? scalarHints.filter(isOn) : [];
  const hasTables = scalarHints.length > onEdges.length;
  const tables: Series[] = [];
  for (const series of list) {
    const isMark = series.kind === "mask" && isOn(series) && (series.isResult || (!hasTables && !isGraph(series)));
    if (isMark) {
      scene.edgeMarks.push({ series, color: EDGE_COLORS[scene.edgeMarks.length % EDGE_COLORS.length] as Color });
    } else if (onEdges.includes(series)) {
      scene.edgeScalars.push(series);
    } else if (series !== scene.liveEdges) {
      tables.push(series);
    }
  }
  const scalars = tables.filter((one) => one.kind === "scalar");
  const first = (kind: string) => tables.find((one) => one.kind === kind) ?? null;
  const attached = { known: first("mask"), pointer: first("pointer"), category: first("categorical") };
  const rest = tables.filter((one) => !scalars.includes(one) && !Object.values(attached).includes(one));
  const heads: (Series | null)[] = scalars.length > 0 || tables.length === 0 ? scalars : [null];
  for (const [index, scalar] of heads.entries()) {
    const of = index === 0 ? attached : { known: attached.known, pointer: null, category: null };
    scene.tables.push(tableScene({ scalar, ...of }, scene.nodes));
  }
  for (const series of rest) {
    const none = { scalar: null, known: null, pointer: null, category: null };
    const role = series.kind === "mask" ? "known" : series.kind === "categorical" ? "category" : "pointer";
    scene.tables.push(tableScene({ ...none, [role]: series }, scene.nodes));
  }
}

type TableSeries = Pick<TableScene, "scalar" | "known" | "pointer" | "category">;

function tableScene(series: TableSeries, nodes: number): TableScene {
  const used = Array.from({ length: nodes * nodes }, () => false);
  for (const one of [series.scalar, series.known, series.category]) {
    for (const row of one?.rows ?? []) {
      row.forEach((value, cell) => {
        used[cell] ||= one?.kind === "categorical" ? value >= 0 : value !== 0 && value !== -1;
      });
    }
  }
  const all = Array.from({ length: nodes }, (_, node) => node);
  let rows = all.filter((row) => all.some((column) => used[row * nodes + column]));
  let columns = all.filter((column) => all.some((row) => used[row * nodes + column]));
  if (rows.length === 0 || columns.length === 0) {
    [rows, columns] = [all, all];
  }
  const isTriangular = rows.some((row) => columns.includes(row)) && rows.every((row) => columns.every((column) => row <= column || !used[row * nodes + column]));
  if (isTriangular) {
    // One axis for both: the base of the pyramid.
    const span = [...new Set([...rows, ...columns])].sort((a, b) => a - b);
    [rows, columns] = [span, span];
  }
  return { ...series, rows, columns, isTriangular };
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
