// An array: cells with values, arcs to the predecessor above, index pointers below, and the array in its current order.

import { columns, type Columns } from "../layout/columns.ts";
import { round, textWidth } from "../layout/geometry.ts";
import { linearOrder } from "../model/shape.ts";
import { short } from "../model/format.ts";
import type { Scene } from "../model/scene.ts";
import type { Series } from "../model/recording.ts";
import type { View } from "../model/view.ts";
import { Arrows } from "./arrows.tsx";
import { Axis, axisHeight, ClassCells, numberY, ScalarCells, scaleOf } from "./cells.tsx";
import { Lanes, lanesHeight } from "./cursors.tsx";
import { arrowHead, classes, probes, type Curve } from "./marks.tsx";
import type { Panel } from "./panel.ts";

const LABEL = 58;
/** Height of bars where nothing else needs the room, and of all rows of them together. */
const BARS = 150;
/** Most index pointers and ranges beside high bars. */
const FEW_LANES = 6;

export function arrayPanel(scene: Scene, width: number): Panel {
  const nodes = Array.from({ length: scene.nodes }, (_, node) => node);
  const margin = scene.levels.length > 0 ? 8 + Math.max(...scene.levels.map((level) => textWidth(level.name, 11))) : 4;
  const grid = columns(scene.nodes, LABEL, width - margin, 58);
  const cellHeight = grid.hasText ? Math.min(48, Math.max(34, grid.cell * 0.85)) : 56;
  const arcs = scene.order ? arcHeight(grid, scene.nodes) : 0;
  const scales = scene.values.map(scaleOf);
  // The values in their current order are the picture; without an order, those in the order of the nodes.
  const hasRoom = scene.tables.length === 0 && scene.forests.length === 0 && scene.cursors.length + scene.ranges.length <= FEW_LANES;
  const orderHeight = hasRoom ? BARS : cellHeight;
  const rowHeight = hasRoom && !scene.order ? Math.max(cellHeight, BARS / scene.values.length) : cellHeight;

  let y = arcs + 4;
  const rows = scene.values.map((series, index) => {
    const row = { series, scale: scales[index] as ReturnType<typeof scaleOf>, y };
    y += rowHeight + 6;
    return row;
  });
  const axis = y - 3;
  y = axis + axisHeight(scene, grid);
  const lanes = y;
  y += lanesHeight(scene.cursors, scene.ranges);
  const strips = scene.strips.map((series) => {
    const strip = { series, y: y + 6 };
    y += 30;
    return strip;
  });
  const orderTop = y + 10;
  if (scene.order) {
    y = orderTop + orderHeight + 14;
  }

  const key = rows[0];
  const draw = (view: View) => (
    <g class="array">
      {scene.order && <Arcs view={view} series={scene.order} grid={grid} base={arcs} nodes={scene.nodes} />}
      {rows.map(({ series, scale, y }) => (
        <g key={series.name}>
          <RowLabel text={series.name} y={y + numberY(rowHeight)} />
          <ScalarCells view={view} series={series} columns={grid} scale={scale} y={y} height={rowHeight}
            fill={series === key?.series ? scene.fill : null}
            behind={series === key?.series && scene.levels.length > 0 ? scene.levels.map((level) => (
              <Level key={level.name} view={view} series={level} y={y + rowHeight * (1 - scale.of(view.one(level) ?? 0))} grid={grid} />
            )) : undefined} />
        </g>
      ))}
      <Axis scene={scene} columns={grid} y={axis} nodes={nodes} />
      <Lanes view={view} cursors={scene.cursors} ranges={scene.ranges} x={(node) => grid.x(node)} cell={grid.cell} y={lanes} left={LABEL - 20}
        right={width} />
      {strips.map(({ series, y }) => (
        <g key={series.name}>
          <RowLabel text={series.name} y={y + 15} />
          {series.kind === "scalar" ? (
            <ScalarCells view={view} series={series} columns={grid} scale={scaleOf(series)} y={y} height={22} />
          ) : (
            <ClassCells view={view} series={series} columns={grid} y={y} height={22} />
          )}
        </g>
      ))}
      {scene.order && key && (
        <Ordered view={view} scene={scene} series={key.series} scale={key.scale} grid={grid} y={orderTop} height={orderHeight} />
      )}
    </g>
  );
  return { name: "array", width: grid.right + margin, height: y, draw };
}

export function RowLabel({ text, y, x = LABEL - 10 }: { text: string; y: number; x?: number }) {
  return (
    <text class="row-label" x={x} y={round(y)}>
      {text}
    </text>
  );
}

function arcHeight(grid: Columns, nodes: number): number {
  return Math.min(104, 24 + Math.min(grid.cell * nodes, 900) * 0.085);
}

/** Arcs from every node to the node it points to. Longer arcs are higher. */
function Arcs({ view, series, grid, base, nodes }: { view: View; series: Series; grid: Columns; base: number; nodes: number }) {
  const size = Math.min(8, Math.max(4, grid.cell * 0.3));
  const path = (node: number, to: number): Curve => {
    const side = Math.sign(to - node) * Math.min(7, grid.cell * 0.2);
    const [start, end] = [grid.x(node) + side, grid.x(to) - side];
    const span = Math.abs(to - node);
    const height = (base - 6) * Math.sqrt(span / Math.max(nodes - 1, 1)) * 0.94 + 4;
    const control = base - height * 1.333;
    return {
      line: `M${round(start)} ${base}C${round(start)} ${round(control)} ${round(end)} ${round(control)} ${round(end)} ${round(base - size * 0.7)}`,
      head: arrowHead({ x: end, y: base }, { x: end, y: base - 20 }, size),
      middle: { x: (start + end) / 2, y: base - height },
    };
  };
  const missing = (node: number) => ({ x: grid.x(node), y: base - 4 });
  return <Arrows view={view} series={series} class={classes("arcs c-green", nodes > 32 && "thin")} path={path} missing={missing} cross={7} />;
}

/** A value that is compared with all others: a line across their bars. */
function Level({ view, series, y, grid }: { view: View; series: Series; y: number; grid: Columns }) {
  return (
    <g class="level" data-probe={probes(series)}>
      <path d={`M${grid.left - 4} ${round(y)}H${round(grid.right + 4)}`} />
      <text x={round(grid.right + 7)} y={round(y - 1)}>
        {series.name}
      </text>
      <text class="value" x={round(grid.right + 7)} y={round(y + 11)}>
        {short(view.one(series) ?? NaN)}
      </text>
    </g>
  );
}

interface OrderedProps {
  view: View;
  scene: Scene;
  series: Series;
  scale: ReturnType<typeof scaleOf>;
  grid: Columns;
  y: number;
  height: number;
}

/** The values in the order that the pointers give: the array as it is now. */
function Ordered({ view, scene, series, scale, grid, y, height }: OrderedProps) {
  const pointers = view.row(scene.order);
  const order = pointers && linearOrder(pointers);
  const position = new Map(order?.map((node, index) => [node, index]));
  return (
    <g class="ordered">
      <RowLabel text="in order" y={y + numberY(height)} />
      {order ? (
        <ScalarCells view={view} series={series} columns={grid} scale={scale} y={y} height={height} changedBy={scene.order}
          column={(node) => position.get(node) ?? node} />
      ) : (
        <text class="note" x={grid.left + 4} y={y + height / 2 + 4}>
          the pointers form no order
        </text>
      )}
      {order && (
        <g class="feet">
          {scene.cursors.map(({ series, color }) => {
            const node = view.one(series);
            const at = node === null ? undefined : position.get(node);
            return at === undefined ? null : (
              <path key={series.name} class={`c-${color} head`} d={`M${round(grid.x(at))} ${y + height + 3}l4 7h-8z`} />
            );
          })}
        </g>
      )}
    </g>
  );
}
