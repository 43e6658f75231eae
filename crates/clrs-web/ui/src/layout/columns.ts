// Columns of equal width, one per node: what arrays, rows of values and their pointers are aligned to.

export interface Columns {
  /** Left edge of the first column; labels of rows are to the left of it. */
  left: number;
  cell: number;
  count: number;
  /** Right edge of the last column. */
  right: number;
  /** Whether a number fits into a cell. */
  hasText: boolean;
  /** Center of a column. */
  x(column: number): number;
}

/** Narrowest cell that a number of three characters fits into. */
const TEXT = 19;

export function columns(count: number, left: number, width: number, widest: number): Columns {
  const cell = Math.min(widest, (width - left) / Math.max(count, 1));
  return {
    left,
    cell,
    count,
    right: left + cell * count,
    hasText: cell >= TEXT,
    x: (column) => left + cell * (column + 0.5),
  };
}

/** Columns whose number is written: all if there is room, otherwise every second, fourth, eighth, .. */
export function labelled(columns: Columns, size: number): (column: number) => boolean {
  const digits = String(Math.max(columns.count - 1, 0)).length;
  let every = 1;
  while (every * columns.cell < digits * size * 0.64 + 4) {
    every *= 2;
  }
  return (column) => column % every === 0;
}

/** How high a value is drawn: fractions of the height of a bar from its bottom, and where zero is. */
export interface Scale {
  zero: number;
  of(value: number): number;
}

/** The scale of all values of some rows. */
export function barScale(rows: readonly (readonly number[])[]): Scale {
  let [least, most] = [0, 0];
  for (const row of rows) {
    for (const value of row) {
      if (Number.isFinite(value)) {
        least = Math.min(least, value);
        most = Math.max(most, value);
      }
    }
  }
  const range = most - least || 1;
  const of = (value: number) => (Number.isFinite(value) ? Math.min(Math.max((value - least) / range, 0), 1) : 0);
  return { zero: of(0), of };
}
