// What changes from frame to frame, and which frames are worth a mark on the time line.

import type { Recording, Series } from "./recording.ts";

export function same(a: number | undefined, b: number | undefined): boolean {
  return a === b || (Number.isNaN(a) && Number.isNaN(b));
}

/** The frame of a series that was asked for last: picture, key and words all ask for the same. */
const latest = new WeakMap<Series, { frame: number; cells: readonly number[] }>();

/** Cells whose value differs from that of the frame before. Nothing changes in the first frame. */
export function changedCells(series: Series, frame: number): readonly number[] {
  const known = latest.get(series);
  if (known?.frame === frame) {
    return known.cells;
  }
  const cells = compareFrames(series, frame);
  latest.set(series, { frame, cells });
  return cells;
}

function compareFrames(series: Series, frame: number): number[] {
  const [row, before] = [series.at(frame), frame > 0 ? series.at(frame - 1) : null];
  if (!row || !before || row === before) {
    // An output that appears has no previous value: all of it is new.
    return row && !before && frame > 0 ? row.map((_, cell) => cell) : [];
  }
  const changed: number[] = [];
  for (let cell = 0; cell < row.length; cell++) {
    if (!same(row[cell], before[cell])) {
      changed.push(cell);
    }
  }
  return changed;
}

export interface TimelineEvent {
  frame: number;
  /** Number of cells that changed. */
  changes: number;
  /** Phases that begin: a mask or category of the graph changed. */
  phases: string[];
}

/** The events of all frames, in order. */
export function events(recording: Recording): TimelineEvent[] {
  const hints = recording.series.filter((series) => series.stage !== "input");
  const phases = hints.filter((series) => series.location === "graph" && series.kind !== "scalar" && series.stage === "hint");
  return Array.from({ length: recording.frames }, (_, frame) => {
    const begun = phases.filter((series) => changedCells(series, frame).length > 0 && frame < recording.steps);
    return {
      frame,
      changes: hints.reduce((sum, series) => sum + changedCells(series, frame).length, 0),
      phases: begun.map((series) => phaseName(series, series.at(frame)?.[0] ?? 0)),
    };
  });
}

function phaseName(series: Series, value: number): string {
  return series.classes.length > 0 ? className(series, value) : `${series.name}: ${className(series, value)}`;
}

/** The name of a value of a mask or categorical. */
export function className(series: Series, value: number): string {
  const named = series.classes[value]?.name;
  return named ?? (series.kind === "mask" ? (value === 1 ? "yes" : value === 0 ? "no" : "masked out") : `class ${value}`);
}
