// A matrix over pairs of nodes, such as the table of a dynamic program: values as shades and numbers, choices as symbols, splits
// as lines to the two parts.

import { round } from "../layout/geometry.ts";
import { cellBox, cellCenter, derivation, parts, pyramidLayout, squareLayout, type TableLayout } from "../layout/table.ts";
import { barScale, type Scale } from "../layout/columns.ts";
import { short } from "../model/format.ts";
import { classFill } from "../model/palette.ts";
import type { Series } from "../model/recording.ts";
import type { Scene, TableScene } from "../model/scene.ts";
import type { Row } from "../model/trace.ts";
import type { View } from "../model/view.ts";
import { classes, crossMark, Keep, notch, probes } from "./marks.tsx";
import type { Panel } from "./panel.ts";
import { letter } from "./strings.tsx";

/** Shades of values. */
const SHADES = 8;
/** Width of a table of nothing but a mask. */
const SMALL = 200;
/** Smaller cells have no ticks for their splits. */
const TICKED = 12;

/** A table in one panel; without room for numbers, one for the values and one for each of the others, as shades. */
export function tablePanels(scene: Scene, table: TableScene, width: number, height: number): Panel[] {
  const { panel, layout } = tablePanel(scene, table, width, height);
  const roles = (["scalar", "pointer", "category"] as const).filter((role) => table[role] !== null);
  if (layout.isTriangular || layout.hasText || roles.length < 2) {
    return [panel];
  }
  const alone = { ...table, scalar: null, pointer: null, category: null };
  const size = width > height ? [width / roles.length - 20, height] : [width, height / roles.length];
  return roles.map((role) => tablePanel(scene, { ...alone, [role]: table[role] }, ...(size as [number, number])).panel);
}

function tablePanel(scene: Scene, table: TableScene, width: number, height: number): { panel: Panel; layout: TableLayout } {
  const most = table.scalar || table.category || table.pointer ? Infinity : SMALL;
  const layout = table.isTriangular
    ? pyramidLayout(table.rows.length, Math.min(width, most), height)
    : squareLayout(table.rows.length, table.columns.length, Math.min(width, most), height);
  const scale = barScale(table.scalar?.rows ?? [[scene.nodes]]);
  const geometry: TableGeometry = { scene, table, layout, scale };
  const draw = (view: View) => <TablePicture geometry={geometry} view={view} />;
  const title = (table.scalar ?? table.category ?? table.pointer ?? table.known)?.name ?? "";
  return { panel: { name: `table ${title}`, width: Math.max(layout.width, 60), height: layout.height + 20, draw }, layout };
}

interface TableGeometry {
  scene: Scene;
  table: TableScene;
  layout: TableLayout;
  scale: Scale;
}

function TablePicture({ geometry, view }: { geometry: TableGeometry; view: View }) {
  const { scene, table, layout } = geometry;
  const states = cellStates(geometry, view);
  const title = [table.scalar, table.category, table.pointer].flatMap((series) => (series ? [series.name] : []));
  return (
    <g class="table" transform="translate(0 20)">
      <text class="title" x={layout.isTriangular ? 2 : 22} y={-8}>
        {title.join(", ") || table.known?.name}
      </text>
      <Keep by={geometry}>
        <Headers scene={scene} table={table} layout={layout} />
      </Keep>
      {layout.hasText ? <Grounds geometry={geometry} states={states} /> : <Shades geometry={geometry} states={states} />}
      {!layout.isTriangular && table.scalar && <Bands geometry={geometry} view={view} />}
      {table.pointer && layout.isTriangular && <Splits geometry={geometry} view={view} pointer={table.pointer} states={states} />}
      {layout.hasText && <Texts geometry={geometry} states={states} />}
    </g>
  );
}

/** Numbers of the nodes, or their letters. */
function Headers({ scene, table, layout }: { scene: Scene; table: TableScene; layout: TableLayout }) {
  const letters = scene.letters?.rows[0];
  const name = (node: number) => (letters ? letter(letters[node] ?? 0) : String(node));
  const power = (x: number) => 2 ** Math.max(0, Math.ceil(Math.log2(x)));
  const every = power((letters ? 9 : 15) / layout.cell.width);
  const everyRow = power(11 / layout.cell.height);
  return (
    <g class="axis">
      {!layout.isTriangular &&
        table.rows.map((node, row) => {
          const at = layout.rowLabel(row);
          return row % everyRow === 0 && <text key={`r${node}`} class="end" x={round(at.x)} y={round(at.y)}>{name(node)}</text>;
        })}
      {table.columns.map((node, column) => {
        const at = layout.columnLabel(column);
        return column % every === 0 && <text key={`c${node}`} x={round(at.x)} y={round(at.y)}>{name(node)}</text>;
      })}
    </g>
  );
}

/** Row and column of index pointers. */
function Bands({ geometry: { scene, table, layout }, view }: { geometry: TableGeometry; view: View }) {
  const { width, height } = layout.cell;
  const [left, top] = [layout.at(0, 0).x, layout.at(0, 0).y];
  return (
    <g class="bands">
      {scene.cursors.map(({ series, color }) => {
        const node = view.one(series);
        const [row, column] = [table.rows.indexOf(node ?? -1), table.columns.indexOf(node ?? -1)];
        if (row < 0 || column < 0 || series.stage !== "hint" || view.isResult) {
          return null;
        }
        return (
          <g key={series.name} class={`c-${color}`}>
            <rect x={round(left)} y={round(top + row * height)} width={round(width * table.columns.length)} height={round(height)} />
            <rect x={round(left + column * width)} y={round(top)} width={round(width)} height={round(height * table.rows.length)} />
          </g>
        );
      })}
    </g>
  );
}

interface CellState {
  index: number;
  row: number;
  column: number;
  value: number | undefined;
  pointer: number | undefined;
  category: number | undefined;
  isBlank: boolean;
  isChanged: boolean;
  isWrong: boolean;
}

function cellStates({ scene, table }: TableGeometry, view: View): CellState[] {
  const rows = [table.scalar, table.known, table.pointer, table.category].map((series) => view.row(series)) as (Row | null)[];
  const [scalar, known, pointer, category] = rows;
  const shown = [table.scalar, table.known, table.pointer, table.category].filter((series): series is Series => series !== null);
  const sets = shown.map((series) => [view.changed(series), view.wrong(series)] as const);
  const states: CellState[] = [];
  for (const [row, from] of table.rows.entries()) {
    for (const [column, to] of table.columns.entries()) {
      if (table.isTriangular && row > column) {
        continue;
      }
      const index = from * scene.nodes + to;
      const [value, choice] = [scalar?.[index], category?.[index]];
      const isUnknown = known ? known[index] !== 1 : choice !== undefined ? choice < 0 : scalar ? value === 0 : false;
      states.push({
        index,
        row,
        column,
        value,
        pointer: pointer?.[index],
        category: choice,
        isBlank: isUnknown,
        isChanged: sets.some(([changed]) => changed.has(index)),
        isWrong: sets.some(([, wrong]) => wrong.has(index)),
      });
    }
  }
  return states;
}

function shade(scale: Scale, value: number | undefined): number {
  return Math.min(SHADES - 1, Math.floor(scale.of(value ?? 0) * SHADES));
}

/** The CSS class of the ground of a cell. */
function ground({ table, scale }: TableGeometry, { isBlank, value, pointer, category }: CellState): string {
  if (isBlank) {
    return "blank";
  }
  const choice = category === undefined ? undefined : table.category?.classes[category];
  if (category !== undefined) {
    return classFill(choice?.name, category);
  }
  return table.scalar || table.pointer ? `shade-${shade(scale, table.scalar ? value : pointer)}` : "fill-on";
}

interface CellsProps {
  geometry: TableGeometry;
  states: CellState[];
}

function Grounds({ geometry, states }: CellsProps) {
  const { table, layout } = geometry;
  const { width, height } = layout.cell;
  return (
    <g class="cells" data-probe={probes(table.scalar, table.known, table.pointer, table.category)}>
      {states.map((state) => {
        const { x, y } = layout.at(state.row, state.column);
        const marks = [state.isChanged && !state.isBlank && "changed", state.isWrong && "wrong"];
        return (
          <g key={state.index} class={classes("cell", ground(geometry, state), ...marks)} data-cell={state.index} transform={`translate(${round(x)} ${round(y)})`}>
            <rect class="ground" x={0.5} y={0.5} width={round(width - 1)} height={round(height - 1)} rx={2} />
            {state.isChanged && !state.isBlank && <path class="notch" d={notch(9)} />}
            {state.isWrong && <path class="cross" d={crossMark(width - 6, 6, 7)} />}
          </g>
        );
      })}
    </g>
  );
}

function Texts({ geometry, states }: CellsProps) {
  const { table, layout } = geometry;
  const { width, height } = layout.cell;
  const hasPointer = table.pointer !== null && height >= 27;
  return (
    <g class="cell-texts">
      {states.map((state) => {
        if (state.isBlank) {
          return null;
        }
        const { x, y } = layout.at(state.row, state.column);
        const glyph = state.category === undefined ? undefined : table.category?.classes[state.category]?.glyph;
        return (
          <g key={state.index} class={ground(geometry, state)} data-cell={state.index}>
            {state.value !== undefined && (
              <text x={round(x + width * (glyph ? 0.66 : 0.5))} y={round(y + (hasPointer ? height * 0.46 : height / 2 + 3.8))}>
                {short(state.value)}
              </text>
            )}
            {glyph && (
              <text class="glyph" x={round(x + width * 0.3)} y={round(y + height / 2 + 3.8)}>
                {glyph}
              </text>
            )}
            {hasPointer && state.pointer !== undefined && (
              <text class="pointer" x={round(x + width / 2)} y={round(y + height * 0.87)}>
                {state.pointer}
              </text>
            )}
          </g>
        );
      })}
    </g>
  );
}

/** Cells without text, a path per shade: thousands of cells are drawn as fast as a few. */
function Shades({ geometry, states }: CellsProps) {
  const { table, layout } = geometry;
  const paths = new Map<string, string>();
  let [changed, wrong] = ["", ""];
  const gap = layout.cell.width > 8 ? 1 : 0;
  for (const state of states) {
    const { x, y, width, height } = cellBox(layout, state.row, state.column);
    const box = `M${round(x)} ${round(y)}h${round(width - gap)}v${round(height - gap)}h${round(gap - width)}z`;
    const fill = ground(geometry, state);
    paths.set(fill, (paths.get(fill) ?? "") + box);
    changed += state.isChanged && !state.isBlank ? box : "";
    wrong += state.isWrong ? crossMark(x + width / 2, y + height / 2, Math.min(width, height, 7)) : "";
  }
  return (
    <g class="shades" data-probe={probes(table.scalar, table.known, table.pointer, table.category)}>
      {[...paths.keys()].sort().map((fill) => (
        <path key={fill} class={fill} d={paths.get(fill)} />
      ))}
      <path class="changed-cells" d={changed} />
      <path class="cross" d={wrong} />
    </g>
  );
}

/**
 * Where ranges are split: a tick on the lower edge of every cell, and lines to the two parts of the widest range that changed. In
 * the result, lines for the complete range and all of its parts.
 */
function Splits({ geometry, view, pointer, states }: { geometry: TableGeometry; view: View; pointer: Series; states: CellState[] }) {
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
function widestChange(states: CellState[]): [number, number][] {
  const changed = states.filter((state) => state.isChanged && !state.isBlank && state.row < state.column);
  const widest = Math.max(...changed.map((state) => state.column - state.row));
  const candidates = changed.filter((state) => state.column - state.row === widest);
  const chosen = candidates[Math.floor(candidates.length / 2)];
  return chosen ? [[chosen.row, chosen.column]] : [];
}
