// Strings: one row of letters each. The second is shifted under the part of the first that it is compared with, and letters that
// were found equal are joined.

import { columns, labelled, type Columns } from "../layout/columns.ts";
import { round } from "../layout/geometry.ts";
import { columnsNeeded, compare, type Comparison } from "../layout/strings.ts";
import { single, type Series } from "../model/recording.ts";
import { emptyPrefix, type Colored, type Scene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { RowLabel } from "./array.tsx";
import { Arrows } from "./arrows.tsx";
import { Lanes, lanesHeight } from "./cursors.tsx";
import { arrowHead, checkMark, classes, crossMark, notch, probes, type Curve } from "./marks.tsx";
import type { Panel } from "./panel.ts";

const LABEL = 58;
const LINK = 22;

export function stringsPanel(scene: Scene, frames: number, width: number): Panel {
  const [first = [], second = []] = scene.rows;
  const names = scene.rows.map((nodes) => rowName(scene, nodes));
  const lengths: [number, number] = [first.length, second.length];
  const row = (node: number) => (second.includes(node) ? 1 : 0);
  const [upper, lower] = [cursorsIn(scene, first), cursorsIn(scene, second)];
  const compared = comparedLetters(scene);
  const shifts = Array.from({ length: frames }, (_, frame) => compared?.((series) => single(series, frame), false).shift ?? 0);
  const grid = columns(columnsNeeded(shifts, lengths), LABEL, width - 4, 40);
  const cell = Math.min(34, Math.max(grid.cell, 16));
  // Cursors that are in both rows at different times point at the row they are in, from below.
  const both = scene.cursors.filter((cursor) => !upper.includes(cursor) && !lower.includes(cursor));
  const top = lanesHeight(upper, []) + 2;
  const letters = top + 14;
  const below = letters + cell + (compared ? LINK : 40);
  const pointers = below + cell + 14;
  const arcs = scene.arrows.length * 34;
  const lanes = pointers + arcs;
  const height = lanes + lanesHeight([...lower, ...both], []) + (scene.fill ? 4 : 0);

  const draw = (view: View) => {
    // A pointer that is elsewhere stands for something else at this step.
    const isEmpty = (series: Series) => view.one(emptyPrefix(scene, series)) === 1 && view.one(series) === second[0];
    const comparison = compared?.((series) => view.one(series), view.isResult) ?? null;
    const by = comparison?.shift ?? 0;
    const x = (node: number) => (row(node) === 1 ? grid.x(second.indexOf(node) + by) : grid.x(first.indexOf(node)));
    const inRow = (index: number) => (node: number) => (row(node) === index ? x(node) : null);
    return (
      <g class="strings" data-probe={probes(...scene.axis)}>
        {comparison?.current != null && <Window grid={grid} by={by} length={second.length} top={letters - 3} bottom={below + cell + 3} />}
        <Lanes view={view} cursors={upper} ranges={[]} x={inRow(0)} cell={grid.cell} y={top} left={LABEL - 20} right={grid.right + 4} direction={-1} />
        <Numbers nodes={first} grid={grid} by={0} y={letters - 4} />
        <Letters view={view} scene={scene} nodes={first} grid={grid} by={0} y={letters} size={cell} />
        {comparison && <Links view={view} scene={scene} comparison={comparison} grid={grid} y={letters + cell} />}
        <Letters view={view} scene={scene} nodes={second} grid={grid} by={by} y={below} size={cell} />
        <Numbers nodes={second} grid={grid} by={by} y={below + cell + 10} />
        {scene.arrows.map((pointer, index) => (
          <Borders key={pointer.series.name} view={view} pointer={pointer} x={x} y={pointers + index * 34} cell={grid.cell} />
        ))}
        <Lanes view={view} cursors={[...lower, ...both]} ranges={[]} x={(node) => x(node)} cell={grid.cell} y={lanes} left={LABEL - 20} right={grid.right + 4}
          isEmpty={isEmpty} />
        <RowLabel text={names[0] ?? ""} y={letters + cell / 2 + 4} />
        <RowLabel text={names[1] ?? ""} y={below + cell / 2 + 4} />
      </g>
    );
  };
  return { name: "strings", width: grid.right + 4, height, draw };
}

/** An index pointer belongs to the row that it is in for the whole run. */
function cursorsIn(scene: Scene, row: number[]): Colored[] {
  return scene.cursors.filter(({ series }) => series.rows.every((values) => row.includes(values[0] ?? 0)));
}

type Compared = (at: (series: Series | null) => number | null, isResult: boolean) => Comparison;

/**
 * What is compared: the letters of the last index pointer in each row. In the result, the second string is where it was found. Null
 * if only one row has index pointers.
 */
export function comparedLetters(scene: Scene): Compared | null {
  const [first = [], second = []] = scene.rows;
  const [upper, lower] = [cursorsIn(scene, first), cursorsIn(scene, second)];
  const last = (list: Colored[]) => list.filter(({ series }) => series.stage === "hint").at(-1)?.series ?? null;
  const [above, below] = [last(upper), last(lower)];
  if (!above || !below) {
    return null;
  }
  const empty = emptyPrefix(scene, below);
  const found = upper.find(({ series }) => series.stage === "output")?.series ?? null;
  const index = (row: number[], node: number | null) => (node !== null && row.includes(node) ? row.indexOf(node) : null);
  return (at, isResult) => {
    const start = isResult ? index(first, at(found)) : null;
    if (start !== null) {
      return { shift: start, current: second.length };
    }
    const pointers = { above: index(first, at(above)), below: index(second, at(below)), isEmpty: empty && at(empty) === 1 };
    return compare(pointers, [first.length, second.length]);
  };
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

/** Lines between letters that were found equal, and a line or a cross between those that are compared now. */
function Links({ view, scene, comparison, grid, y }: { view: View; scene: Scene; comparison: Comparison; grid: Columns; y: number }) {
  const [first = [], second = []] = scene.rows;
  const letters = view.row(scene.letters);
  const { shift, current } = comparison;
  return (
    <g class="links">
      {second.slice(0, current === null ? 0 : current + 1).map((node, index) => {
        const other = first[index + shift];
        const isEqual = other !== undefined && letters?.[node] === letters?.[other];
        const x = round(grid.x(index + shift));
        if (isEqual) {
          return <path key={node} class={classes("equal", index === current && "current")} d={`M${x} ${y + 3}V${y + LINK - 3}`} />;
        }
        return index === current && other !== undefined && <path key={node} class="differ" d={crossMark(x, y + LINK / 2, 9)} />;
      })}
    </g>
  );
}

/** Pointers within a row: arcs below it. */
function Borders({ view, pointer: { series, color }, x, y, cell }: { view: View; pointer: Colored; x(node: number): number; y: number; cell: number }) {
  const path = (node: number, to: number): Curve => {
    const side = Math.sign(x(to) - x(node)) * Math.min(6, cell * 0.2);
    const [start, end] = [x(node) + side, x(to) - side];
    const depth = Math.min(28, 10 + Math.abs(end - start) * 0.12);
    return {
      line: `M${round(start)} ${y}C${round(start)} ${round(y + depth)} ${round(end)} ${round(y + depth)} ${round(end)} ${round(y + 5)}`,
      head: arrowHead({ x: end, y }, { x: end, y: y + 20 }, 7),
      middle: { x: (start + end) / 2, y: y + depth * 0.75 },
    };
  };
  return <Arrows view={view} series={series} class={`arcs c-${color}`} path={path} missing={(node) => ({ x: x(node), y: y + 4 })} cross={7} />;
}
