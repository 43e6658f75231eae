// Frames in words: for lists of changes, tooltips and screen readers.

import { changedCells } from "./changes.ts";
import { long } from "./format.ts";
import type { Recording, Series } from "./recording.ts";
import type { View } from "./view.ts";

/** "step 3 of 16", or "result". */
export function stepLabel(frame: number, steps: number): string {
  return frame >= steps ? "result" : `step ${frame + 1} of ${steps}`;
}

/** The value of a cell: a number, a node, or the name of a class. */
export function valueText(series: Series, value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) {
    return "\u2013";
  }
  if (series.kind === "scalar") {
    return long(value);
  }
  const isClass = series.kind === "mask" || series.kind === "categorical";
  if (!isClass) {
    return String(value);
  }
  if (value < 0) {
    return "masked out";
  }
  const name = series.classes[value]?.name;
  return name ? `${value} ${name}` : String(value);
}

/** The value of a cell in few letters: a class by its symbol, or its name without what is in parentheses. */
export function briefText(series: Series, value: number | undefined): string {
  const glyph = series.classes[value ?? -1]?.glyph;
  return glyph ? `${value} (${glyph})` : valueText(series, value).replace(/ \(.*\)$/, "");
}

/** "pi_h[3]", "D[2, 5]", or the name alone. */
export function cellName(series: Series, cell: number, nodes: number): string {
  if (series.location === "graph" || series.kind === "mask_one") {
    return series.name;
  }
  return series.location === "edge" ? `${series.name}[${Math.floor(cell / nodes)}, ${cell % nodes}]` : `${series.name}[${cell}]`;
}

export interface Change {
  name: string;
  before: string;
  after: string;
}

/** The changes of a frame, those of the whole graph and of index pointers first; and how many there are in all. */
export function changes(recording: Recording, frame: number, limit: number): { shown: Change[]; count: number } {
  const shown: Change[] = [];
  let count = 0;
  const rank = (series: Series) => (series.location === "graph" ? 0 : series.kind === "mask_one" ? 1 : series.location === "node" ? 2 : 3);
  const list = recording.series.filter((series) => series.stage !== "input").sort((a, b) => rank(a) - rank(b));
  for (const series of list) {
    const cells = changedCells(series, frame);
    count += cells.length;
    const [before, row] = [frame > 0 ? series.at(frame - 1) : null, series.at(frame)];
    for (const cell of cells.slice(0, Math.max(limit - shown.length, 0))) {
      shown.push({
        name: cellName(series, cell, recording.nodes),
        before: before ? briefText(series, before[cell]) : "",
        after: briefText(series, row?.[cell]),
      });
    }
  }
  return { shown, count };
}

export function changeText({ name, before, after }: Change): string {
  return before ? `${name}: ${before} \u2192 ${after}` : `${name}: ${after}`;
}

export interface TipLine {
  name: string;
  /** Its value, and the true one if a prediction differs from it. */
  value: string;
  /** The most probable values of a prediction, best first. */
  candidates: { label: string; probability: number }[];
}

/** Everything about a node, or about a cell of a table or an edge. */
export function cellTip(view: View, location: "node" | "edge", cell: number): TipLine[] {
  const { recording, frame } = view;
  const lines: TipLine[] = [];
  for (const series of recording.series) {
    const row = view.row(series);
    const isHere = location === "node" && series.kind === "mask_one" && row?.[0] === cell;
    if (!row || !(isHere || (series.location === location && series.kind !== "mask_one"))) {
      continue;
    }
    const own = isHere ? 0 : cell;
    const truth = view.wrong(series).has(own) ? ` instead of ${valueText(series, view.expected(series)?.[own])}` : "";
    lines.push({ name: series.name, value: (isHere ? "here" : valueText(series, row[own])) + truth, candidates: candidates(recording, series, frame, own) });
  }
  return lines;
}

const MAX_CANDIDATES = 3;

/** The most probable values of a cell of a predicted row. */
export function candidates(recording: Recording, series: Series, frame: number, cell: number): TipLine["candidates"] {
  return probabilities(recording, series, frame, cell)
    .map((probability, value) => ({ label: valueText(series, value), probability }))
    .sort((a, b) => b.probability - a.probability)
    .slice(0, MAX_CANDIDATES);
}

/** Probabilities of all values of a cell of a predicted row; none of a row that was given, and of scalars. */
export function probabilities(recording: Recording, series: Series, frame: number, cell: number): number[] {
  const isResult = frame >= recording.steps && series.isResult;
  const probe = isResult ? series.probes[series.probes.length - 1] : series.probes[0];
  const row = probe?.probabilities?.[isResult ? 0 : Math.min(frame, recording.steps - 1)];
  if (!row || row.length === 0) {
    return [];
  }
  if (series.kind === "mask") {
    return [1 - (row[cell] ?? 0), row[cell] ?? 0];
  }
  const cells = series.location === "edge" ? recording.nodes ** 2 : series.location === "node" && series.kind !== "mask_one" ? recording.nodes : 1;
  const width = Math.floor(row.length / cells);
  return row.slice(cell * width, (cell + 1) * width);
}
