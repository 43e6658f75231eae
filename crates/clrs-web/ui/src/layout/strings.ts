// Two strings in aligned rows: how far the second is shifted.

/**
 * The shift of the second row, in cells, that brings two letters into one column; within the first row, so that it never moves to
 * the left of its first letter.
 */
export function shift(above: number | null, below: number | null, lengths: [number, number]): number {
  if (above === null || below === null) {
    return 0;
  }
  return Math.min(Math.max(above - below, 0), Math.max(lengths[0] - 1, 0));
}

/** The largest shift needed during a run: how many columns there are. */
export function columnsNeeded(shifts: number[], lengths: [number, number]): number {
  return Math.max(lengths[0], ...shifts.map((by) => by + lengths[1]), lengths[1]);
}
