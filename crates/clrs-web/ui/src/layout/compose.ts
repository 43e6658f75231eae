// Panels of a picture beside and below each other.

export interface Sized {
  width: number;
  height: number;
}

export interface Placed<P> {
  panel: P;
  x: number;
  y: number;
}

export interface Composition<P> extends Sized {
  placed: Placed<P>[];
}

/** Panels from left to right, then in rows below; every row is centered, and so are panels in their row. */
export function flow<P extends Sized>(panels: P[], width: number, gap: number): Composition<P> {
  const rows: P[][] = [];
  let used = Infinity;
  for (const panel of panels) {
    if (used + gap + panel.width > width) {
      rows.push([]);
      used = -gap;
    }
    rows[rows.length - 1]?.push(panel);
    used += gap + panel.width;
  }
  const widest = Math.max(0, ...rows.map((row) => rowWidth(row, gap)));
  const placed: Placed<P>[] = [];
  let y = 0;
  for (const row of rows) {
    const height = Math.max(...row.map((panel) => panel.height));
    let x = (widest - rowWidth(row, gap)) / 2;
    for (const panel of row) {
      placed.push({ panel, x, y: y + (height - panel.height) / 2 });
      x += panel.width + gap;
    }
    y += height + gap;
  }
  return { placed, width: widest, height: Math.max(0, y - gap) };
}

function rowWidth(row: Sized[], gap: number): number {
  return row.reduce((sum, panel) => sum + panel.width, gap * (row.length - 1));
}

/** A main panel with a column of others to its right, vertically centered. */
export function beside<P extends Sized>(main: P, others: P[], gap: number): Composition<P> {
  const column = others.reduce((sum, panel) => sum + panel.height, gap * Math.max(others.length - 1, 0));
  const height = Math.max(main.height, column);
  const placed: Placed<P>[] = [{ panel: main, x: 0, y: (height - main.height) / 2 }];
  let y = (height - column) / 2;
  for (const panel of others) {
    placed.push({ panel, x: main.width + gap, y });
    y += panel.height + gap;
  }
  const widest = Math.max(0, ...others.map((panel) => panel.width));
  return { placed, width: main.width + (others.length > 0 ? gap + widest : 0), height };
}

/** One composition below another, both centered. */
export function stack<P>(above: Composition<P>, below: Composition<P>, gap: number): Composition<P> {
  if (below.placed.length === 0) {
    return above;
  }
  const width = Math.max(above.width, below.width);
  const move = (of: Composition<P>, dy: number) =>
    of.placed.map(({ panel, x, y }) => ({ panel, x: x + (width - of.width) / 2, y: y + dy }));
  return {
    placed: [...move(above, 0), ...move(below, above.height + gap)],
    width,
    height: above.height + gap + below.height,
  };
}
