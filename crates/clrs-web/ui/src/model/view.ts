// One frame of a run: current values, what changed, and where a prediction differs from the truth.

import { changedCells, same } from "./changes.ts";
import type { Recording, Series } from "./recording.ts";
import type { Row } from "./trace.ts";

const NONE: ReadonlySet<number> = new Set();

export class View {
  readonly recording: Recording;
  readonly frame: number;
  /** The recorded run, if this is a predicted one. */
  readonly truth: Recording | null;
  private readonly changes = new Map<string, ReadonlySet<number>>();
  private readonly errors = new Map<string, ReadonlySet<number>>();

  constructor(recording: Recording, frame: number, truth: Recording | null = null) {
    this.recording = recording;
    this.frame = Math.min(frame, recording.frames - 1);
    this.truth = truth;
  }

  get isResult(): boolean {
    return this.frame === this.recording.steps;
  }

  /** The row of a series, looked up by name: the scene may be of another recording. */
  row(series: Series | null): Row | null {
    return (series && this.recording.get(series.name)?.at(this.frame)) ?? null;
  }

  /** The node of a one-hot mask, or the value of the graph. */
  one(series: Series | null): number | null {
    return this.row(series)?.[0] ?? null;
  }

  changed(series: Series | null): ReadonlySet<number> {
    return this.cached(this.changes, series, (own) => this.visibleChanges(own));
  }

  /** Cells that differ from the truth; those of the same frame, or of the result. */
  wrong(series: Series | null): ReadonlySet<number> {
    const { truth } = this;
    return truth ? this.cached(this.errors, series, (own) => wrongCells(own, truth, this.frame, this.isResult)) : NONE;
  }

  /** The true row of a predicted series: that of the same frame, or the result. */
  expected(series: Series): Row | null {
    return this.truth?.get(series.name)?.at(this.isResult ? this.truth.steps : this.frame) ?? null;
  }

  /** A predicted scalar is never quite what it was: small changes do not count, as small errors do not. */
  private visibleChanges(own: Series): ReadonlySet<number> {
    const changed = changedCells(own, this.frame);
    const expected = this.truth?.get(own.name);
    const before = this.frame > 0 ? own.at(this.frame - 1) : null;
    if (!expected || !before || own.kind !== "scalar") {
      return new Set(changed);
    }
    const [row, tolerance] = [own.at(this.frame), scalarTolerance(expected)];
    return new Set(changed.filter((cell) => !(Math.abs((row?.[cell] ?? 0) - (before[cell] ?? 0)) <= tolerance)));
  }

  private cached(
    cache: Map<string, ReadonlySet<number>>,
    series: Series | null,
    compute: (own: Series) => ReadonlySet<number>,
  ): ReadonlySet<number> {
    const own = series && this.recording.get(series.name);
    if (!own) {
      return NONE;
    }
    let found = cache.get(own.name);
    if (!found) {
      found = compute(own);
      cache.set(own.name, found);
    }
    return found;
  }
}

/** Cells of a predicted series that differ from the truth. */
export function wrongCells(predicted: Series, truth: Recording, frame: number, isResult: boolean): ReadonlySet<number> {
  const expected = truth.get(predicted.name);
  if (!expected || predicted.stage === "input" || (!isResult && frame >= truth.steps)) {
    // The network took more steps than the algorithm: nothing to compare with.
    return NONE;
  }
  const [row, right] = [predicted.at(frame), expected.at(isResult ? truth.steps : frame)];
  const tolerance = predicted.kind === "scalar" ? scalarTolerance(expected) : 0;
  const wrong = new Set<number>();
  row?.forEach((value, cell) => {
    const target = right?.[cell];
    // Cells that are masked out have no truth.
    const isComparable = target !== undefined && target !== -1;
    if (isComparable && !same(value, target) && !(Math.abs(value - target) <= tolerance)) {
      wrong.add(cell);
    }
  });
  return wrong;
}

/** Scalars are wrong if they are off by more than a tenth of the range of true values. */
function scalarTolerance(series: Series): number {
  let [least, most] = [Infinity, -Infinity];
  for (const row of series.rows) {
    for (const value of row) {
      [least, most] = [Math.min(least, value), Math.max(most, value)];
    }
  }
  return Math.max(0.1 * (most - least), 1e-9);
}
