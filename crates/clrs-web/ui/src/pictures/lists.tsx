// Pointers apart from the main picture: linked lists as chips in a row, trees layer by layer.

import { layoutForest } from "../layout/forest.ts";
import { round } from "../layout/geometry.ts";
import { fitting } from "../model/format.ts";
import { chains, linearOrder } from "../model/shape.ts";
import type { Colored, Scene } from "../model/scene.ts";
import type { Row } from "../model/trace.ts";
import type { View } from "../model/view.ts";
import { arrowHead, classes, crossMark, probes } from "./marks.tsx";
import type { Panel } from "./panel.ts";

const CHIP = 22;
const STEP = 36;
const LINE = 32;
const LABEL = 58;

/** Linked lists, from head to tail. */
export function chainPanel(pointer: Colored, width: number): Panel {
  const perLine = Math.max(2, Math.floor((width - LABEL) / STEP));
  const linesOf = (row: Row) => chains(row).reduce((sum, list) => sum + Math.ceil(list.length / perLine), 0);
  const lines = Math.max(1, ...pointer.series.rows.map(linesOf));
  const draw = (view: View) => {
    const row = view.row(pointer.series);
    const [changed, wrong] = [view.changed(pointer.series), view.wrong(pointer.series)];
    let line = 0;
    return (
      <g class={`chains c-${pointer.color}`} data-probe={probes(pointer.series)}>
        <text class="row-label" x={LABEL - 10} y={LINE / 2 + 4}>
          {pointer.series.name}
        </text>
        {row && chains(row).length === 0 && (
          <text class="note" x={LABEL} y={LINE / 2 + 4}>
            {"\u2013"}
          </text>
        )}
        {(row ? chains(row) : []).map((list) => {
          const top = line * LINE;
          line += Math.ceil(list.length / perLine);
          return list.map((node, index) => {
            const [x, y] = [LABEL + (index % perLine) * STEP, top + Math.floor(index / perLine) * LINE + 5];
            const isLast = index === list.length - 1;
            const [tip, from] = [
              { x: x + STEP - 1, y: y + CHIP / 2 },
              { x: x + CHIP, y: y + CHIP / 2 },
            ];
            return (
              <g key={node} class={classes("chip", changed.has(node) && "changed", wrong.has(node) && "wrong")} data-cell={node}>
                <rect x={x} y={y} width={CHIP} height={CHIP} rx={5} />
                <text x={x + CHIP / 2} y={y + CHIP / 2 + 4}>
                  {node}
                </text>
                {!isLast && <path class="line" d={`M${from.x} ${from.y}H${tip.x - 5}`} />}
                {!isLast && <path class="head" d={arrowHead(tip, from, 7)} />}
                {wrong.has(node) && <path class="cross" d={crossMark(x + CHIP - 2, y + 2, 7)} />}
              </g>
            );
          });
        })}
      </g>
    );
  };
  return { name: `list ${pointer.series.name}`, width: Math.min(width, LABEL + perLine * STEP), height: lines * LINE + 2, draw };
}

/** Trees of parent pointers. */
export function forestPanel(scene: Scene, pointer: Colored, width: number): Panel {
  const shapes = pointer.series.rows.map((row) => layoutForest(row));
  const depth = Math.min(7, Math.max(1, ...shapes.map((shape) => shape.depth)));
  const most = Math.max(1, ...shapes.map((shape) => shape.slots));
  const slot = Math.min(38, (width - LABEL) / most);
  const radius = Math.max(4, Math.min(14, slot * 0.42));
  const level = Math.max(2 * radius + 8, 34);
  const values = scene.kind === "array" ? scene.values[0] : undefined;
  const draw = (view: View) => {
    const row = view.row(pointer.series);
    const pointers = view.row(scene.order);
    const order = pointers && linearOrder(pointers);
    const rank = new Map(order?.map((node, index) => [node, index]));
    const forest = row && layoutForest(row, (node) => rank.get(node) ?? node);
    const [changed, wrong] = [view.changed(pointer.series), view.wrong(pointer.series)];
    const own = forest ? Math.min(38, Math.max(slot, (width - LABEL) / forest.slots)) : slot;
    const x = (at: number) => LABEL + (at + 0.5) * own;
    const y = (at: number) => radius + 6 + Math.min(at, depth) * level;
    const numbers = values && view.row(values);
    return (
      <g class={`forest c-${pointer.color}`} data-probe={probes(pointer.series)}>
        <text class="row-label" x={LABEL - 10} y={radius + 10}>
          {pointer.series.name}
        </text>
        {forest?.nodes.map(({ node, depth: at, slot: place, parent }) => {
          const over = forest.nodes[parent ?? -1];
          return over ? (
            <path key={`e${node}`} class={classes("line", changed.has(node) && "changed", wrong.has(node) && "wrong")}
              d={`M${round(x(place))} ${round(y(at))}L${round(x(over.slot))} ${round(y(over.depth))}`} />
          ) : null;
        })}
        {forest?.nodes.map(({ node, depth: at, slot: place }) => (
          <g key={node} class={classes("tree-node", changed.has(node) && "changed", wrong.has(node) && "wrong")} data-cell={node}
            transform={`translate(${round(x(place))} ${round(y(at))})`}>
            <circle r={round(radius)} />
            {radius >= 6.5 && <text y={3.5} style={{ fontSize: `${Math.min(11, radius * 1.05)}px` }}>{numbers ? fitting(numbers[node] ?? NaN, 2 * radius, Math.min(11, radius * 1.05)) : node}</text>}
            <Feet scene={scene} view={view} node={node} radius={radius} />
            {wrong.has(node) && <path class="cross" d={crossMark(radius * 0.8, -radius * 0.8, 7)} />}
          </g>
        ))}
      </g>
    );
  };
  return { name: `tree ${pointer.series.name}`, width: Math.min(width, LABEL + most * slot + 8), height: depth * level + 2 * radius + 18, draw };
}

/** Index pointers at a node of a tree: small triangles in their colors. */
function Feet({ scene, view, node, radius }: { scene: Scene; view: View; node: number; radius: number }) {
  const here = scene.cursors.filter(({ series }) => view.one(series) === node);
  return (
    <>
      {here.map(({ series, color }, index) => (
        <path key={series.name} class={`head c-${color}`} d={`M${round((index - (here.length - 1) / 2) * 8)} ${round(radius + 1)}l3.5 6h-7z`} />
      ))}
    </>
  );
}
