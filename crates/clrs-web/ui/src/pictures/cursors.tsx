// Index pointers below a row of cells: labelled arrows, and brackets for ranges. Each has a lane of its own, so that none covers
// another and none jumps when others move.

import { round } from "../layout/geometry.ts";
import type { Color } from "../model/palette.ts";
import type { Series } from "../model/recording.ts";
import type { Colored, Range } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { classes, crossMark, Pill, pillWidth, probes } from "./marks.tsx";

export const LANE = 21;

export interface LanesProps {
  view: View;
  cursors: Colored[];
  ranges: Range[];
  /** Center of the column of a node; null if the node is elsewhere. */
  x(node: number): number | null;
  /** Width of a column. */
  cell: number;
  /** Where arrows point to. */
  y: number;
  /** Labels stay between these. */
  left: number;
  right: number;
  /** 1 for lanes below the cells, -1 for lanes above. */
  direction?: 1 | -1;
  /** Whether a pointer stands for nothing at this step, such as the end of an empty prefix. */
  isEmpty?(series: Series): boolean;
}

interface Placed {
  label: string;
  color: Color;
  probe: string;
  stage: string;
  isNew: boolean;
  isWrong: boolean;
  isEmpty: boolean;
  /** Where the pointer is, and the center of its label relative to it. */
  x: number;
  labelX: number;
  labelY: number;
  stem: string;
  kind: "cursor" | "bracket";
}

export function Lanes({ view, cursors, ranges, x, cell, y, left, right, direction = 1, isEmpty = () => false }: LanesProps) {
  const at = cursors.map(({ series }) => view.one(series));
  const lane = (index: number) => y + direction * (14 + LANE * index + LANE / 2);
  const within = (center: number, label: string) => {
    const half = pillWidth(label) / 2;
    return Math.min(Math.max(center, left + half), Math.max(right - half, left + half));
  };
  const marks = (of: Series[]) => ({
    probe: probes(...of),
    stage: of[0]?.stage ?? "",
    isNew: of.some((series) => view.changed(series).size > 0),
    isWrong: of.some((series) => view.wrong(series).size > 0),
    isEmpty: of.every(isEmpty),
  });
  const placed: Placed[] = [];
  const absent: string[] = [];
  for (const [index, { series, color }] of cursors.entries()) {
    const node = at[index] ?? null;
    const center = node === null ? null : x(node);
    if (center === null) {
      absent.push(probes(series));
      continue;
    }
    const here = at.flatMap((other, k) => (other === node ? [k] : []));
    const offset = (here.indexOf(index) - (here.length - 1) / 2) * Math.min(7, cell / here.length);
    const stem = `M0 ${round(y + direction * 6)}V${round(lane(index) - direction * 8)}`;
    const labelX = within(center + offset, series.name) - center - offset;
    placed.push({ ...marks([series]), label: series.name, color, x: center + offset, labelX, labelY: lane(index), stem, kind: "cursor" });
  }
  for (const [index, { label, low, high, color }] of ranges.entries()) {
    const ends = [view.one(low), view.one(high)].map((node) => (node === null ? null : x(node)));
    if (ends[0] == null || ends[1] == null) {
      absent.push(probes(low, high));
      continue;
    }
    const [from, to] = ends[0] > ends[1] ? [ends[0], ends[1]] : [ends[0] - cell / 2 + 2, ends[1] + cell / 2 - 2];
    const top = lane(cursors.length + index);
    // A label that is wider than its bracket would hide it.
    const bottom = to - from < pillWidth(label) + 8 ? top - 8 : top;
    const stem = `M${round(from)} ${bottom - 6}V${bottom}H${round(to)}V${bottom - 6}`;
    placed.push({ ...marks([low, high]), label, color, x: 0, labelX: within((from + to) / 2, label), labelY: top + 1, stem, kind: "bracket" });
  }
  const names = (one: Placed) => classes(one.kind, `c-${one.color}`, one.isNew && "changed", one.isWrong && "wrong", one.isEmpty && "empty", one.stage);
  return (
    <g class="lanes">
      {absent.map((probe) => (
        <g key={probe} data-probe={probe} />
      ))}
      {placed.map((one) => (
        <g key={one.label} class={names(one)} data-probe={one.probe} transform={`translate(${round(one.x)} 0)`}>
          <path class="stem" d={one.stem} />
          {one.kind === "cursor" && <path class="head" d={`M0 ${round(y)}l4.5 ${direction * 8}h-9z`} />}
        </g>
      ))}
      {placed.map((one) => (
        <g key={`${one.label} label`} class={names(one)} transform={`translate(${round(one.x)} 0)`}>
          <Pill x={one.labelX} y={one.labelY} text={one.label} color={one.color} isNew={one.isNew} stage={one.stage} />
          {one.isWrong && <path class="cross" d={crossMark(one.labelX + pillWidth(one.label) / 2 + 6, one.labelY, 7)} />}
        </g>
      ))}
    </g>
  );
}

export function lanesHeight(cursors: Colored[], ranges: Range[]): number {
  const count = cursors.length + ranges.length;
  return count === 0 ? 0 : 14 + LANE * count + 2;
}
