// Two strings in aligned rows: how far the second is shifted, and which of its letters is compared.

/** Indices in their strings of two letters that are compared, or of the index pointers that tell which. */
export interface Pointers {
  above: number | null;
  below: number | null;
  /** Whether the prefix that ends at `below` is empty; null if `below` is the compared letter itself. */
  isEmpty: boolean | null;
}

export interface Comparison {
  /** Cells that the second row is shifted to the right; never to the left of its first letter. */
  shift: number;
  /** Index in the second string of the letter that is compared; those before it are equal. Null if none is compared. */
  current: number | null;
}

const NONE: Comparison = { shift: 0, current: null };

/** Brings the two letters that are compared into one column. After a prefix, that is the letter that follows it. */
export function compare({ above, below, isEmpty }: Pointers, lengths: [number, number]): Comparison {
  // An empty prefix ends nowhere: a pointer that is not at rest stands for something else.
  if (above === null || below === null || (isEmpty && below > 0)) {
    return NONE;
  }
  const current = isEmpty === null ? below : isEmpty ? 0 : Math.min(below + 1, lengths[1] - 1);
  return { shift: Math.min(Math.max(above - current, 0), Math.max(lengths[0] - 1, 0)), current };
}

/** The largest shift needed during a run: how many columns there are. */
export function columnsNeeded(shifts: number[], lengths: [number, number]): number {
  return Math.max(lengths[0], ...shifts.map((by) => by + lengths[1]), lengths[1]);
}
