// Strings: one row of letters each. The second is shifted under the part of the first that it is compared with, and equal letters
// are joined.

import { columns, labelled, type Columns } from "../layout/columns.ts";
import { round } from "../layout/geometry.ts";
import { columnsNeeded, shift } from "../layout/strings.ts";
import { single, type Series } from "../model/recording.ts";
import type { Colored, Scene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { RowLabel } from "./array.tsx";
import { Lanes, lanesHeight } from "./cursors.tsx";
import { arrowHead, checkMark, classes, crossMark, notch, probes } from "./marks.tsx";
import type { Panel } from "./panel.ts";

const LABEL = 58;
const LINK = 22;

export function stringsPanel(scene: Scene, frames: number, width: number): Panel {
  const [first = [], second = []] = scene.rows;
  const names = scene.rows.map((nodes) => rowName(scene, nodes));
  const lengths: [number, number] = [first.length, second.length];
  const row = (node: number) => (second.includes(node) ? 1 : 0);
  // An index pointer belongs to the row that it is in for the whole run.
  const isIn = (cursor: Colored, index: number) => cursor.series.rows.every((values) => row(values[0] ?? 0) === index);
  const upper = scene.cursors.filter((cursor) => isIn(cursor, 0));
  const lower = scene.cursors.filter((cursor) => isIn(cursor, 1));
  const hints = (list: Colored[]) => list.filter(({ series }) => series.stage === "hint");
  const aligned = [hints(upper).at(-1)?.series, hints(lower).at(-1)?.series] as const;
  const shiftAt = (at: (series: Series | undefined) => number | null) => {
    const [above, below] = [at(aligned[0]), at(aligned[1])];
    return aligned[0] && aligned[1] ? shift(above, below === null ? null : second.indexOf(below), lengths) : 0;
  };
  const shifts = Array.from({ length: frames }, (_, frame) => shiftAt((series) => single(series, frame)));
  const isCompared = aligned[0] !== undefined && aligned[1] !== undefined;
  const grid = columns(columnsNeeded(shifts, lengths), LABEL, width - 4, 40);
  const cell = Math.min(34, Math.max(grid.cell, 16));
  // Cursors that are in both rows at different times point at the row they are in, from below.
  const both = scene.cursors.filter((cursor) => !upper.includes(cursor) && !lower.includes(cursor));
  const top = lanesHeight(upper, []) + 2;
  const letters = top + 14;
  const below = letters + cell + (isCompared ? LINK : 40);
  const pointers = below + cell + 14;
  const arcs = scene.arrows.length * 34;
  const lanes = pointers + arcs;
  const height = lanes + lanesHeight([...lower, ...both], []) + (scene.fill ? 4 : 0);

  const draw = (view: View) => {
    const by = shiftAt((series) => view.one(series ?? null));
    const x = (node: number) => (row(node) === 1 ? grid.x(second.indexOf(node) + by) : grid.x(first.indexOf(node)));
    const inRow = (index: number) => (node: number) => (row(node) === index ? x(node) : null);
    return (
      <g class="strings" data-probe={probes(...scene.axis)}>
        {isCompared && <Window grid={grid} by={by} length={second.length} top={letters - 3} bottom={below + cell + 3} />}
        <Lanes view={view} cursors={upper} ranges={[]} x={inRow(0)} cell={grid.cell} y={top} left={LABEL - 20} right={grid.right + 4} direction={-1} />
        <Numbers nodes={first} grid={grid} by={0} y={letters - 4} />
        <Letters view={view} scene={scene} nodes={first} grid={grid} by={0} y={letters} size={cell} />
        {isCompared && <Links view={view} scene={scene} first={first} second={second} by={by} grid={grid} y={letters + cell} />}
        <Letters view={view} scene={scene} nodes={second} grid={grid} by={by} y={below} size={cell} />
        <Numbers nodes={second} grid={grid} by={by} y={below + cell + 10} />
        {scene.arrows.map((pointer, index) => (
          <Borders key={pointer.series.name} view={view} pointer={pointer} x={x} y={pointers + index * 34} cell={grid.cell} />
        ))}
        <Lanes view={view} cursors={[...lower, ...both]} ranges={[]} x={(node) => x(node)} cell={grid.cell} y={lanes} left={LABEL - 20} right={grid.right + 4} />
        <RowLabel text={names[0] ?? ""} y={letters + cell / 2 + 4} />
        <RowLabel text={names[1] ?? ""} y={below + cell / 2 + 4} />
      </g>
    );
  };
  return { name: "strings", width: grid.right + 4, height, draw };
}

/** The name of the field of the problem that has the letters. */
function rowName(scene: Scene, nodes: number[]): string {
  const text = nodes.map((node) => letter(scene.letters?.rows[0]?.[node] ?? 0)).join("");
  return Object.entries(scene.problem).find(([, value]) => value === text)?.[0] ?? "";
}

/** The columns in which the strings are compared. */
function Window({ grid, by, length, top, bottom }: { grid: Columns; by: number; length: number; top: number; bottom: number }) {
  const x = grid.left + grid.cell * by;
  return <rect class="window" x={round(x - 2)} y={top} width={round(grid.cell * length + 4)} height={bottom - top} rx={6} />;
}

function Numbers({ nodes, grid, by, y }: { nodes: number[]; grid: Columns; by: number; y: number }) {
  const isLabelled = labelled(grid, 9);
  return (
    <g class="axis minor">
      {nodes.map((node, index) => (isLabelled(index) ? <text key={node} x={round(grid.x(index + by))} y={y}>{node}</text> : null))}
    </g>
  );
}

interface LettersProps {
  view: View;
  scene: Scene;
  nodes: number[];
  grid: Columns;
  by: number;
  y: number;
  size: number;
}

function Letters({ view, scene, nodes, grid, by, y, size }: LettersProps) {
  const letters = view.row(scene.letters);
  const marks = view.row(scene.fill);
  const changed = view.changed(scene.fill);
  const wrong = view.wrong(scene.fill);
  const width = grid.cell - (grid.cell > 12 ? 2 : 1);
  return (
    <g data-probe={probes(scene.letters, scene.fill)} transform={`translate(${round(grid.left + grid.cell * by)} ${y})`} class="letters">
      {nodes.map((node, index) => {
        const isOn = marks?.[node] === 1;
        return (
          <g key={node} class={classes("cell", isOn && "on", changed.has(node) && "changed", wrong.has(node) && "wrong")} data-cell={node}
            transform={`translate(${round(grid.cell * index + 1)} 0)`}>
            <rect class="ground" width={round(width)} height={size} rx={3} />
            <text x={round(width / 2)} y={round(size / 2 + Math.min(6, width * 0.3))} style={{ fontSize: `${Math.min(17, width * 0.78)}px` }}>
              {letter(letters?.[node] ?? 0)}
            </text>
            {isOn && width > 22 && <path class="check" d={checkMark(width - 6, 7, 7)} />}
            {changed.has(node) && <path class="notch" d={notch(Math.min(8, width / 2))} />}
            {wrong.has(node) && <path class="cross" d={crossMark(width / 2, size - 6, 7)} />}
          </g>
        );
      })}
    </g>
  );
}

/** `a` for class 0, as in problems; later classes go on through the alphabet. */
export function letter(value: number): string {
  return value >= 0 && value < 26 ? String.fromCharCode(97 + value) : String(value);
}

/** Lines between equal letters of a column, and crosses between different ones where the index pointers are. */
function Links({ view, scene, first, second, by, grid, y }: { view: View; scene: Scene; first: number[]; second: number[]; by: number; grid: Columns; y: number }) {
  const letters = view.row(scene.letters);
  const current = new Set(scene.cursors.map(({ series }) => view.one(series)));
  return (
    <g class="links">
      {second.map((node, index) => {
        const other = first[index + by];
        if (other === undefined) {
          return null;
        }
        const isEqual = letters?.[node] === letters?.[other];
        const isCurrent = current.has(node) && current.has(other);
        const x = round(grid.x(index + by));
        if (!isEqual && !isCurrent) {
          return null;
        }
        return isEqual ? (
          <path key={node} class={classes("equal", isCurrent && "current")} d={`M${x} ${y + 3}V${y + LINK - 3}`} />
        ) : (
          <path key={node} class="differ" d={crossMark(x, y + LINK / 2, 9)} />
        );
      })}
    </g>
  );
}

/** Pointers within a row: arcs below it. */
function Borders({ view, pointer, x, y, cell }: { view: View; pointer: Colored; x(node: number): number; y: number; cell: number }) {
  const [changed, wrong] = [view.changed(pointer.series), view.wrong(pointer.series)];
  return (
    <g class={`arcs c-${pointer.color}`} data-probe={probes(pointer.series)}>
      {view.row(pointer.series)?.map((to, node) => {
        const isWrong = wrong.has(node);
        if (to === node) {
          return isWrong && <path key={node} class="cross" d={crossMark(x(node), y + 4, 7)} />;
        }
        const side = Math.sign(x(to) - x(node)) * Math.min(6, cell * 0.2);
        const [start, end] = [x(node) + side, x(to) - side];
        const depth = Math.min(28, 10 + Math.abs(end - start) * 0.12);
        const path = `M${round(start)} ${y}C${round(start)} ${round(y + depth)} ${round(end)} ${round(y + depth)} ${round(end)} ${round(y + 5)}`;
        return (
          <g key={node} class={classes("arrow", changed.has(node) && "changed", isWrong && "wrong")} data-cell={node}>
            {changed.has(node) && <path class="halo" d={path} />}
            <path class="line" d={path} />
            <path class="head" d={arrowHead({ x: end, y }, { x: end, y: y + 20 }, 7)} />
            {isWrong && <path class="cross" d={crossMark((start + end) / 2, y + depth * 0.75, 7)} />}
          </g>
        );
      })}
    </g>
  );
}
