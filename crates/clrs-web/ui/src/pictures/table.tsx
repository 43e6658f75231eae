// A matrix over pairs of nodes, such as the table of a dynamic program: values as shades and numbers, choices as symbols, splits
// as lines to the two parts.

import { round } from "../layout/geometry.ts";
import { cellAt, cellBox, pyramidLayout, squareLayout, type TableLayout } from "../layout/table.ts";
import type { Scale } from "../layout/columns.ts";
import { short } from "../model/format.ts";
import { classFill } from "../model/palette.ts";
import type { Scene, TableScene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { classes, crossMark, Keep, notch, probes } from "./marks.tsx";
import type { Panel } from "./panel.ts";
import { Splits, Traceback } from "./solution.tsx";
import { letter } from "./strings.tsx";
import { cellStates, tableGeometry, type CellState, type TableGeometry } from "./tablecells.ts";

/** Shades of values. */
const SHADES = 8;
const SHADE_CLASSES = Array.from({ length: SHADES }, (_, shade) => `shade-${shade}`);
/** Width of a table of nothing but a mask. */
const SMALL = 200;

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
  const geometry = tableGeometry(scene, table, layout);
  const draw = (view: View) => <TablePicture geometry={geometry} view={view} />;
  const title = (table.scalar ?? table.category ?? table.pointer ?? table.known)?.name ?? "";
  return { panel: { name: `table ${title}`, width: Math.max(layout.width, 60), height: layout.height + 20, draw }, layout };
}

function TablePicture({ geometry, view }: { geometry: TableGeometry; view: View }) {
  const { scene, table, layout } = geometry;
  const states = cellStates(geometry, view);
  const title = [table.scalar, table.category, table.pointer].flatMap((series) => (series ? [series.name] : []));
  return (
    <g class="table" transform="translate(0 20)">
      <text class="title" x={layout.isTriangular ? 2 : 28} y={-8}>
        {title.join(", ") || table.known?.name}
      </text>
      <Keep by={geometry}>
        <Headers scene={scene} table={table} layout={layout} />
      </Keep>
      {layout.hasText ? <Grounds geometry={geometry} states={states} /> : <Shades geometry={geometry} states={states} />}
      {!layout.isTriangular && table.scalar && <Bands geometry={geometry} view={view} />}
      {table.pointer && layout.isTriangular && <Splits geometry={geometry} view={view} pointer={table.pointer} states={states} />}
      {table.category && view.isResult && <Traceback geometry={geometry} states={states} />}
      {layout.hasText && <Texts geometry={geometry} states={states} />}
    </g>
  );
}

/** Numbers of the nodes; if they have letters, these, and the numbers where there is room. */
function Headers({ scene, table, layout }: { scene: Scene; table: TableScene; layout: TableLayout }) {
  const letters = scene.letters?.rows[0];
  const number = (node: number) => layout.hasText && <tspan class="index">{` ${node}`}</tspan>;
  const name = (node: number) => (letters ? <>{letter(letters[node] ?? 0)}{number(node)}</> : node);
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
  return table.scalar || table.pointer ? (SHADE_CLASSES[shade(scale, table.scalar ? value : pointer)] as string) : "fill-on";
}

interface CellsProps {
  geometry: TableGeometry;
  states: readonly CellState[];
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
  const hasRange = layout.isTriangular && width >= 44 && height >= 36;
  return (
    <g class="cell-texts">
      {states.map((state) => {
        if (state.isBlank) {
          return null;
        }
        const { x, y } = layout.at(state.row, state.column);
        const [from, to] = [table.rows[state.row] as number, table.columns[state.column] as number];
        // What is no node of a range does not split it.
        const isOutside = layout.isTriangular && !((state.pointer ?? -1) >= from && (state.pointer ?? -1) <= to);
        const pointer = isOutside && !state.isWrong ? undefined : state.pointer;
        const glyph = state.category === undefined ? undefined : table.category?.classes[state.category]?.glyph;
        return (
          <g key={state.index} class={ground(geometry, state)} data-cell={state.index}>
            {state.value !== undefined && (
              <text x={round(x + width * (glyph ? 0.66 : 0.5))} y={round(y + (hasRange ? height * 0.6 : hasPointer ? height * 0.46 : height / 2 + 3.8))}>
                {short(state.value)}
              </text>
            )}
            {glyph && (
              <text class="glyph" x={round(x + width * 0.3)} y={round(y + height / 2 + 3.8)}>
                {glyph}
              </text>
            )}
            {hasPointer && pointer !== undefined && (
              <text class="pointer" x={round(x + width / 2)} y={round(y + height * (hasRange ? 0.9 : 0.87))}>
                {pointer}
              </text>
            )}
            {hasRange && from < to && (
              <text class="range" x={round(x + width / 2)} y={round(y + 10)}>
                {`${from}\u2013${to}`}
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
  const { scene, table, layout } = geometry;
  const paths = new Map<string, string[]>();
  const changed: string[] = [];
  let wrong = "";
  for (const state of states) {
    const fill = ground(geometry, state);
    const boxes = paths.get(fill);
    if (boxes) {
      boxes.push(state.box);
    } else {
      paths.set(fill, [state.box]);
    }
    if (state.isChanged && !state.isBlank) {
      changed.push(state.box);
    }
    if (state.isWrong) {
      const { x, y, width, height } = cellBox(layout, state.row, state.column);
      wrong += crossMark(x + width / 2, y + height / 2, Math.min(width, height, 7));
    }
  }
  // Paths have many cells: tooltips look for the one at the pointer.
  const name = (event: PointerEvent) => {
    const group = event.currentTarget as SVGGElement;
    const matrix = group.getScreenCTM()?.inverse();
    const at = matrix && cellAt(layout, table.rows.length, table.columns.length, new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix));
    const [row, column] = at ? [table.rows[at.row], table.columns[at.column]] : [];
    if (row === undefined || column === undefined) {
      group.removeAttribute("data-cell");
    } else {
      group.setAttribute("data-cell", String(row * scene.nodes + column));
    }
  };
  return (
    <g class="shades" data-probe={probes(table.scalar, table.known, table.pointer, table.category)} onPointerMove={name}>
      {[...paths.keys()].sort().map((fill) => (
        <path key={fill} class={fill} d={paths.get(fill)?.join("")} />
      ))}
      <path class="changed-cells" d={changed.join("")} />
      <path class="cross" d={wrong} />
    </g>
  );
}
