// Which picture every kind of series gets; see scene.ts.

import { EDGE_COLORS, POINTER_COLORS, cursorColors, type Color } from "./palette.ts";
import type { Series } from "./recording.ts";
import type { Colored, Scene, TableScene } from "./scene.ts";
import { always, hasLoops, isChains, isConstant, isFixedOrder, isGroups, isOnEdges, linearOrder } from "./shape.ts";
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
  /** Ending of the name of a mask of the graph: whether the prefix that ends at the one-hot mask of that name is empty. */
  emptyPrefix: "_reset",
} as const;

/** Fields of a problem that are lists of points; with several of them, the points of each are joined. */
export function polylines(problem: Problem, nodes: number): number[][] {
  const isPoint = (value: unknown) => Array.isArray(value) && value.length === 2 && value.every((x) => typeof x === "number");
  const lists = Object.values(problem).filter((value): value is unknown[] => Array.isArray(value) && value.every(isPoint));
  const lengths = lists.map((list) => list.length);
  if (lists.length < 2 || lengths.reduce((sum, length) => sum + length, 0) !== nodes) {
    return [];
  }
  let next = 0;
  return lengths.map((length) => Array.from({ length }, () => next++));
}

export function placePointers(scene: Scene, pointers: Series[], results: Series[]) {
  // What becomes an output is drawn most prominently. Green is for the result.
  const sorted = [...pointers].sort((a, b) => Number(b.isResult) - Number(a.isResult));
  const edges = scene.adjacency?.rows[0];
  const isAlongEdges = (row: Row) =>
    edges !== undefined && row.every((to, node) => to === node || edges[node * scene.nodes + to] || edges[to * scene.nodes + node]);
  const hasResult = results.length > 0 && !sorted[0]?.isResult;
  let colors = hasResult ? 1 : 0;
  const colored = (series: Series): Colored => ({ series, color: POINTER_COLORS[colors++ % POINTER_COLORS.length] as Color });
  for (const series of sorted) {
    // What becomes an output has a picture of its own, even if it never changes: a prediction of it might.
    const isFixed = !series.isResult && scene.kind !== "graph" && isFixedOrder(series);
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

export function placeCursors(scene: Scene, masks: Series[]) {
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

export function placeClasses(scene: Scene, classes: Series[]) {
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

export function placeEdges(scene: Scene, list: Series[]) {
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
    scene.tables.push(tableScene({ scalar, ...of }, scene));
  }
  for (const series of rest) {
    const none = { scalar: null, known: null, pointer: null, category: null };
    const role = series.kind === "mask" ? "known" : series.kind === "categorical" ? "category" : "pointer";
    scene.tables.push(tableScene({ ...none, [role]: series }, scene));
  }
}

type TableSeries = Pick<TableScene, "scalar" | "known" | "pointer" | "category">;

function tableScene(series: TableSeries, { nodes, kind }: Scene): TableScene {
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
  // Pairs of nodes of a graph are no ranges, even if only those from a node to later ones are used.
  const isTriangular = kind !== "graph" && rows.some((row) => columns.includes(row)) && rows.every((row) => columns.every((column) => row <= column || !used[row * nodes + column]));
  if (isTriangular) {
    // One axis for both: the base of the pyramid.
    const span = [...new Set([...rows, ...columns])].sort((a, b) => a - b);
    [rows, columns] = [span, span];
  }
  return { ...series, rows, columns, isTriangular };
}
