// Solutions that the choices in a table describe: splits of ranges in a pyramid, a way through a square.

import { round } from "../layout/geometry.ts";
import { cellBox, cellCenter, derivation, parts, traceback } from "../layout/table.ts";
import type { Series } from "../model/recording.ts";
import type { View } from "../model/view.ts";
import { classes, probes } from "./marks.tsx";
import type { CellState, TableGeometry } from "./tablecells.ts";

/** Smaller cells have no ticks for their splits. */
const TICKED = 12;

/**
 * Where ranges are split: a tick on the lower edge of every cell, and lines to the two parts of the widest range that changed. In
 * the result, lines for the complete range and all of its parts.
 */
export function Splits({ geometry, view, pointer, states }: { geometry: TableGeometry; view: View; pointer: Series; states: readonly CellState[] }) {
  const { table, layout } = geometry;
  const place = new Map(table.rows.map((node, index) => [node, index]));
  const byCell = new Map(states.map((state) => [state.row * table.rows.length + state.column, state]));
  const splitAt = (row: number, column: number): number | null => {
    const state = byCell.get(row * table.rows.length + column);
    const at = state && !state.isBlank && row < column ? place.get(state.pointer ?? -1) : undefined;
    return at !== undefined && at >= row && at < column ? at : null;
  };
  const shown = view.isResult ? derivation(0, table.rows.length - 1, splitAt) : widestChange(states);
  let ticks = "";
  for (const { row, column } of states) {
    const at = splitAt(row, column);
    if (at !== null && layout.cell.width >= TICKED) {
      const { x, y, width, height } = cellBox(layout, row, column);
      const size = Math.min(3.2, height / 3);
      ticks += `M${round(x + (width * (at - row + 1)) / (column - row + 1))} ${round(y + height - size - 0.5)}l${size} ${size}h${-2 * size}z`;
    }
  }
  return (
    <g class={classes("splits", view.isResult && "final")} data-probe={probes(pointer)}>
      <path class="ticks" d={ticks} />
      {shown.map(([row, column]) => {
        const at = splitAt(row, column);
        const top = cellCenter(layout, row, column);
        return at === null ? null : parts(row, column, at).map(([a, b]) => {
          const end = cellCenter(layout, a, b);
          const box = cellBox(layout, a, b);
          return (
            <g key={`${row} ${column} ${a}`}>
              <path class="line" d={`M${round(top.x)} ${round(top.y + layout.cell.height / 2)}L${round(end.x)} ${round(end.y - layout.cell.height / 2)}`} />
              <rect x={round(box.x + 0.5)} y={round(box.y + 0.5)} width={round(box.width - 1)} height={round(box.height - 1)} rx={2} />
            </g>
          );
        });
      })}
    </g>
  );
}

/** The changed cell nearest to the top of the pyramid; of several, the one in the middle. */
function widestChange(states: readonly CellState[]): [number, number][] {
  const changed = states.filter((state) => state.isChanged && !state.isBlank && state.row < state.column);
  const widest = Math.max(...changed.map((state) => state.column - state.row));
  const candidates = changed.filter((state) => state.column - state.row === widest);
  const chosen = candidates[Math.floor(candidates.length / 2)];
  return chosen ? [[chosen.row, chosen.column]] : [];
}

/** In the result, the traceback through the choices. */
export function Traceback({ geometry: { table, layout }, states }: { geometry: TableGeometry; states: readonly CellState[] }) {
  const columns = table.columns.length;
  const choices = new Map(states.map((state) => [state.row * columns + state.column, state.category]));
  const symbolAt = (row: number, column: number) => table.category?.classes[choices.get(row * columns + column) ?? -1]?.glyph;
  return (
    <g class="splits final">
      {traceback(table.rows.length, columns, symbolAt).map(([row, column]) => {
        const { x, y, width, height } = cellBox(layout, row, column);
        return <rect key={row * columns + column} x={round(x + 1)} y={round(y + 1)} width={round(width - 2)} height={round(height - 2)} rx={2} />;
      })}
    </g>
  );
}
