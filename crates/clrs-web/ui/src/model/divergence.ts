// Where a prediction leaves the truth.

import { briefText, cellName, probabilities } from "./describe.ts";
import { percent } from "./format.ts";
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
  const frames: number[] = [];
  const [wrong, cells]: [number[], number[]] = [[], []];
  for (let frame = 0; frame < predicted.frames; frame++) {
    const isResult = frame === predicted.steps;
    const relevant = decidedSeries(predicted, isResult);
    const count = relevant.reduce((sum, series) => sum + wrongCells(series, truth, frame, isResult).size, 0);
    wrong.push(count);
    cells.push(relevant.reduce((sum, series) => sum + (series.at(frame)?.length ?? 0), 0));
    if (count > 0) {
      frames.push(frame);
    }
  }
  return { frames, first: frames[0] ?? null, wrong, cells };
}

function decidedSeries(predicted: Recording, isResult: boolean): Series[] {
  const decided = predicted.series.filter((series) => series.stage !== "input" && series.kind !== "scalar");
  return decided.filter((series) => (isResult ? series.isResult : series.stage === "hint"));
}

/** A decision that differs from the truth. */
export interface WrongDecision {
  /** "pi_h[3]" */
  name: string;
  predicted: string;
  truth: string;
  /** How sure the network was; null if it gave no probability. */
  probability: number | null;
}

/** The wrong decisions of a frame, in the order of the probes. */
export function wrongDecisions(predicted: Recording, truth: Recording, frame: number): WrongDecision[] {
  const isResult = frame === predicted.steps;
  return decidedSeries(predicted, isResult).flatMap((series) => {
    const [row, right] = [series.at(frame), truth.get(series.name)?.at(isResult ? truth.steps : frame)];
    // The result is that of the output, which is the last probe of a series.
    const named = isResult ? { ...series, name: series.probes.at(-1)?.name ?? series.name } : series;
    return [...wrongCells(series, truth, frame, isResult)].map((cell) => ({
      name: cellName(named, cell, predicted.nodes),
      predicted: briefText(series, row?.[cell]),
      truth: briefText(series, right?.[cell]),
      probability: probabilities(predicted, series, frame, cell)[row?.[cell] ?? -1] ?? null,
    }));
  });
}

export function wrongText({ name, predicted, truth, probability }: WrongDecision): string {
  return `${name}: ${predicted} instead of ${truth}${probability === null ? "" : `, ${percent(probability)} sure`}`;
}
