// Rows of cells, one per node: values as bars and text, masks and categories as fills.

import type { ComponentChildren } from "preact";
import { barScale, labelled, type Columns, type Scale } from "../layout/columns.ts";
import { round } from "../layout/geometry.ts";
import { className } from "../model/changes.ts";
import { fitting } from "../model/format.ts";
import { classFill } from "../model/palette.ts";
import type { Series } from "../model/recording.ts";
import type { Scene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { checkMark, classes, crossMark, notch, probes } from "./marks.tsx";

/** Scale of all values that a series takes. */
export function scaleOf(series: Series): Scale {
  return barScale(series.rows);
}

export interface CellsProps {
  view: View;
  series: Series;
  columns: Columns;
  scale: Scale;
  y: number;
  height: number;
  /** Marks cells as set. */
  fill?: Series | null;
  /** Marks cells as changed where this changes, instead of the values. */
  changedBy?: Series | null;
  /** Drawn between the bars and the numbers. */
  behind?: ComponentChildren;
  /** Column of a node; its own number unless nodes are reordered. */
  column?: (node: number) => number;
}

/** Lower cells are rather cells with a number than bars. */
const HIGH = 60;

/** Baseline of the number in a cell: in its middle, or at the foot of a bar. */
export function numberY(height: number): number {
  return height > HIGH ? height - 8 : height / 2 + 4;
}

/** Scalars: a bar in every cell, and the number if it fits. */
export function ScalarCells({ view, series, columns, scale, y, height, fill = null, changedBy = null, behind, column = (node) => node }: CellsProps) {
  const row = view.row(series);
  const [changed, wrong, marks] = [view.changed(changedBy ?? series), view.wrong(series), view.row(fill)];
  const changedMarks = view.changed(fill);
  const width = columns.cell;
  const gap = width > 12 ? 2 : width > 6 ? 1 : 0.5;
  return (
    <g class={height > HIGH ? "bars" : ""} data-probe={probes(changedBy ?? series, fill)}>
      {row?.map((value, node) => {
        const [bottom, top] = [scale.zero, scale.of(value)].sort((a, b) => a - b) as [number, number];
        const isOn = marks?.[node] === 1;
        const isChanged = changed.has(node) || changedMarks.has(node);
        const x = columns.left + width * column(node) + gap / 2;
        return (
          <g key={node} class={classes("cell", isChanged && "changed", isOn && "on", wrong.has(node) && "wrong")}
            data-cell={node} transform={`translate(${round(x)} ${y})`}>
            <rect class="ground" width={round(width - gap)} height={height} rx={Math.min(3, width / 5)} />
            <rect class={classes("bar", value < 0 && "negative")} y={round(height * (1 - top))} width={round(width - gap)}
              height={round(height * (top - bottom))} rx={Math.min(3, width / 5)} />
            {isOn && width > 16 && <path class="check" d={checkMark(round(width - gap - 8), 7, 8)} />}
            {isChanged && <path class="notch" d={notch(Math.min(9, width / 2))} />}
            {wrong.has(node) && <path class="cross" d={crossMark((width - gap) / 2, height - 6, Math.min(7, width))} />}
          </g>
        );
      })}
      {behind}
      {columns.hasText && (
        <g class={classes("numbers", behind !== undefined && "outlined")}>
          {row?.map((value, node) => (
            <g key={node} class={value === 0 ? "cell zero" : "cell"} transform={`translate(${round(columns.x(column(node)))} ${y + numberY(height)})`}>
              <text>{fitting(value, width - 1, height > 30 ? 12 : 10.5)}</text>
            </g>
          ))}
        </g>
      )}
    </g>
  );
}

/** Masks and categories: the class as fill and, if it fits, as text. */
export function ClassCells({ view, series, columns, y, height, column = (node) => node }: Omit<CellsProps, "scale">) {
  const row = view.row(series);
  const [changed, wrong] = [view.changed(series), view.wrong(series)];
  const width = columns.cell;
  const gap = width > 12 ? 2 : 1;
  return (
    <g data-probe={probes(series)}>
      {row?.map((value, node) => {
        const isMask = series.kind === "mask";
        const fill = isMask ? (value === 1 ? "fill-on" : "fill-off") : classFill(series.classes[value]?.name, value);
        return (
          <g key={node} class={classes("cell", changed.has(node) && "changed", wrong.has(node) && "wrong")} data-cell={node}
            transform={`translate(${round(columns.left + width * column(node) + gap / 2)} ${y})`}>
            <rect class={classes("ground", fill)} width={round(width - gap)} height={height} rx={Math.min(3, width / 5)} />
            {isMask && value === 1 && width > 10 && <path class="check" d={checkMark((width - gap) / 2, height / 2, 8)} />}
            {changed.has(node) && <path class="notch" d={notch(Math.min(8, width / 2))} />}
            {wrong.has(node) && <path class="cross" d={crossMark((width - gap) / 2, height / 2, 7)} />}
            <title>{className(series, value)}</title>
          </g>
        );
      })}
    </g>
  );
}

/** In narrower cells, the order of the nodes is drawn below their numbers. */
const WIDE_CELL = 24;

export function axisHeight(scene: Scene, columns: Columns): number {
  return scene.fixedOrder && columns.cell <= WIDE_CELL ? 22 : 16;
}

/** The numbers of the nodes, and the order of the nodes between them. */
export function Axis({ scene, columns, y, nodes }: { scene: Scene; columns: Columns; y: number; nodes: number[] }) {
  const isLabelled = labelled(columns, 10);
  const isWide = columns.cell > WIDE_CELL;
  return (
    <g class="axis" data-probe={probes(...scene.axis)}>
      {nodes.map((node, column) =>
        isLabelled(column) ? (
          <text key={node} x={round(columns.x(column))} y={y + 10} data-cell={node}>
            {node}
          </text>
        ) : null,
      )}
      {scene.fixedOrder && (
        <path class="chevron" d={nodes.slice(1).map((_, column) => chevron(columns.left + columns.cell * (column + 1), y + (isWide ? 6.5 : 16), isWide ? 3.5 : 2.2)).join("")} />
      )}
    </g>
  );
}

/** An arrow head to the left: the node after it points to the one before. */
function chevron(x: number, y: number, size: number): string {
  return `M${round(x + size * 0.7)} ${y - size}l${-size * 1.4} ${size}l${size * 1.4} ${size}`;
}
