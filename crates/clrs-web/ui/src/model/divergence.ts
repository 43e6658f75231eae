// Where a prediction leaves the truth.

import type { Recording, Series } from "./recording.ts";
import { wrongCells } from "./view.ts";

/** Frames with an error, and the first of them; null if all decisions are right. */
export interface Divergence {
  frames: number[];
  first: number | null;
  /** Wrong cells of all decisions, and all cells, by frame. */
  wrong: number[];
  cells: number[];
}

/** Compares all decisions with the truth. Scalars do not count: they are never exactly right. */
export function divergence(predicted: Recording, truth: Recording): Divergence {
  const decided = predicted.series.filter((series) => series.stage !== "input" && series.kind !== "scalar");
  const frames: number[] = [];
  const [wrong, cells]: [number[], number[]] = [[], []];
  for (let frame = 0; frame < predicted.frames; frame++) {
    const isResult = frame === predicted.steps;
    const relevant = decided.filter((series) => (isResult ? series.isResult : isRunning(series)));
    const count = relevant.reduce((sum, series) => sum + wrongCells(series, truth, frame, isResult).size, 0);
    wrong.push(count);
    cells.push(relevant.reduce((sum, series) => sum + (series.at(frame)?.length ?? 0), 0));
    if (count > 0) {
      frames.push(frame);
    }
  }
  return { frames, first: frames[0] ?? null, wrong, cells };
}

function isRunning(series: Series): boolean {
  return series.stage === "hint";
}
