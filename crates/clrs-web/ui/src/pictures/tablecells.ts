// The cells of a table at a step: what is known of each, what changed and what is wrong.

import { barScale, type Scale } from "../layout/columns.ts";
import { round } from "../layout/geometry.ts";
import { cellBox, type TableLayout } from "../layout/table.ts";
import type { Series } from "../model/recording.ts";
import type { Scene, TableScene } from "../model/scene.ts";
import type { View } from "../model/view.ts";

export interface TableGeometry {
  scene: Scene;
  table: TableScene;
  layout: TableLayout;
  scale: Scale;
  cells: CellState[];
}

export interface CellState {
  index: number;
  row: number;
  column: number;
  /** Its outline, as a path. */
  box: string;
  value: number | undefined;
  pointer: number | undefined;
  category: number | undefined;
  isBlank: boolean;
  isChanged: boolean;
  isWrong: boolean;
}

export function tableGeometry(scene: Scene, table: TableScene, layout: TableLayout): TableGeometry {
  const gap = layout.cell.width > 8 ? 1 : 0;
  const cells: CellState[] = [];
  for (const [row, from] of table.rows.entries()) {
    for (const [column, to] of table.columns.entries()) {
      if (table.isTriangular && row > column) {
        continue;
      }
      const { x, y, width, height } = cellBox(layout, row, column);
      const box = `M${round(x)} ${round(y)}h${round(width - gap)}v${round(height - gap)}h${round(gap - width)}z`;
      const unknown = { value: undefined, pointer: undefined, category: undefined, isBlank: true, isChanged: false, isWrong: false };
      cells.push({ index: from * scene.nodes + to, row, column, box, ...unknown });
    }
  }
  return { scene, table, layout, scale: barScale(table.scalar?.rows ?? [[scene.nodes]]), cells };
}

/** The cells at a step. They are the same objects at every step: thousands of new ones would keep the garbage collector busy. */
export function cellStates({ table, cells }: TableGeometry, view: View): readonly CellState[] {
  const [scalar, known, pointer, category] = [table.scalar, table.known, table.pointer, table.category].map((series) => view.row(series));
  const shown = [table.scalar, table.known, table.pointer, table.category].filter((series): series is Series => series !== null);
  const changed = new Set(shown.flatMap((series) => [...view.changed(series)]));
  const wrong = new Set(shown.flatMap((series) => [...view.wrong(series)]));
  for (const cell of cells) {
    cell.value = scalar?.[cell.index];
    cell.pointer = pointer?.[cell.index];
    cell.category = category?.[cell.index];
    cell.isBlank = known ? known[cell.index] !== 1 : category ? (cell.category ?? -1) < 0 : scalar ? cell.value === 0 : false;
    cell.isChanged = changed.has(cell.index);
    cell.isWrong = wrong.has(cell.index);
  }
  return cells;
}
