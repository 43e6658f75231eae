// Places of the cells of a matrix over pairs of nodes: a square, or a pyramid over the diagonal.

import type { Box, Point } from "./geometry.ts";

export interface TableLayout {
  isTriangular: boolean;
  /** Size of a cell. */
  cell: { width: number; height: number };
  width: number;
  height: number;
  /** Top left corner of the cell in row `row` and column `column` of the table; not all cells of a pyramid exist. */
  at(row: number, column: number): Point;
  /** Baselines of the labels of rows and columns; a pyramid has one label per cell of its base. */
  rowLabel(row: number): Point;
  columnLabel(column: number): Point;
  hasText: boolean;
}

/** Room for the labels of a square, and for those below a pyramid. */
const HEADER = 28;
const FOOTER = 22;

export function squareLayout(rows: number, columns: number, width: number, height: number): TableLayout {
  const cell = Math.max(4, Math.min(40, (width - HEADER) / columns, (height - HEADER) / rows));
  const at = (row: number, column: number) => ({ x: HEADER + column * cell, y: HEADER + row * cell });
  return {
    isTriangular: false,
    cell: { width: cell, height: cell },
    width: HEADER + columns * cell + 2,
    height: HEADER + rows * cell + 2,
    at,
    rowLabel: (row) => ({ x: HEADER - 7, y: HEADER + (row + 0.5) * cell + 3.5 }),
    columnLabel: (column) => ({ x: HEADER + (column + 0.5) * cell, y: HEADER - 7 }),
    hasText: cell >= 24,
  };
}

/** Row and column are counted along the base; cell (i, j) is above the middle of cells i to j of the base. */
export function pyramidLayout(base: number, width: number, height: number): TableLayout {
  const cellWidth = Math.max(4, Math.min(54, (width - 4) / base));
  const cellHeight = Math.max(4, Math.min(cellWidth * 0.82, (height - FOOTER) / base));
  const at = (row: number, column: number) => ({
    x: 2 + ((row + column) / 2) * cellWidth,
    y: (base - 1 - (column - row)) * cellHeight,
  });
  const label = (index: number) => ({ x: 2 + (index + 0.5) * cellWidth, y: base * cellHeight + 14 });
  return {
    isTriangular: true,
    cell: { width: cellWidth, height: cellHeight },
    width: base * cellWidth + 4,
    height: base * cellHeight + FOOTER,
    at,
    rowLabel: label,
    columnLabel: label,
    hasText: cellWidth >= 25 && cellHeight >= 16,
  };
}

/** Row and column of the cell at a point, if there is one. */
export function cellAt(layout: TableLayout, rows: number, columns: number, { x, y }: Point): { row: number; column: number } | null {
  const { width, height } = layout.cell;
  const first = layout.at(0, 0);
  let row = Math.floor((y - first.y) / height);
  let column = Math.floor((x - first.x) / width);
  if (layout.isTriangular) {
    // Of a pyramid, the height gives the distance between the two, and what is left of x their sum.
    const apart = Math.ceil((first.y + height - y) / height) - 1;
    row = Math.floor((x - first.x) / width - apart / 2);
    column = row + apart;
    if (apart < 0) {
      return null;
    }
  }
  return row >= 0 && row < rows && column >= 0 && column < columns ? { row, column } : null;
}

export function cellBox(layout: TableLayout, row: number, column: number): Box {
  return { ...layout.at(row, column), ...layout.cell };
}

export function cellCenter(layout: TableLayout, row: number, column: number): Point {
  const { x, y, width, height } = cellBox(layout, row, column);
  return { x: x + width / 2, y: y + height / 2 };
}

/** The two parts of a range that is split after `at`: cells of the same table. */
export function parts(row: number, column: number, at: number): [number, number][] {
  return at >= row && at < column
    ? [
        [row, at],
        [at + 1, column],
      ]
    : [];
}

/** The cells of the best split of a range, and of its parts, down to single nodes. `splitAt` is null where it is unknown. */
export function derivation(row: number, column: number, splitAt: (row: number, column: number) => number | null): [number, number][] {
  const cells: [number, number][] = [];
  const open: [number, number][] = [[row, column]];
  for (let cell = open.pop(); cell && cells.length < 10_000; cell = open.pop()) {
    cells.push(cell);
    const at = splitAt(cell[0], cell[1]);
    if (at !== null) {
      open.push(...parts(cell[0], cell[1], at));
    }
  }
  return cells;
}

/** Rows and columns that symbols lead to. */
const DIRECTIONS: Record<string, [number, number]> = { "\u2196": [-1, -1], "\u2191": [-1, 0], "\u2190": [0, -1] };

/**
 * The cells from the last one along the arrows that they have as symbols, until one leads out of the table: the solution that a table
 * of choices describes. Empty if a symbol on the way is no arrow.
 */
export function traceback(rows: number, columns: number, symbolAt: (row: number, column: number) => string | undefined): [number, number][] {
  const cells: [number, number][] = [];
  for (let [row, column] = [rows - 1, columns - 1]; row >= 0 && column >= 0; ) {
    const step = DIRECTIONS[symbolAt(row, column) ?? ""];
    if (!step) {
      return [];
    }
    cells.push([row, column]);
    [row, column] = [row + step[0], column + step[1]];
  }
  return cells;
}
