// Nodes of a graph: their number and value, fills, rings and check marks for classes; and labels of index pointers beside them.

import { placeCallouts } from "../layout/callouts.ts";
import { between, distance, round, type Box, type Point } from "../layout/geometry.ts";
import { precise } from "../model/format.ts";
import { classFill } from "../model/palette.ts";
import type { Colored, Scene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import type { GraphGeometry } from "./graphgeometry.ts";
import { checkMark, classes, crossMark, Pill, pillWidth, probes } from "./marks.tsx";

export function Nodes({ geometry, view }: { geometry: GraphGeometry; view: View }) {
  const { scene, points, radius } = geometry;
  const [fill, ring, group, value] = [scene.fill, scene.ring, scene.groups, scene.nodeValue].map((series) => view.row(series));
  const sets = [scene.fill, scene.ring, scene.groups].map((series) => [view.changed(series), view.wrong(series)] as const);
  const [changedValue, wrongValue] = [view.changed(value ? scene.nodeValue : null), view.wrong(value ? scene.nodeValue : null)];
  const isSmall = radius < 15;
  return (
    <g class={classes("nodes", isSmall && "small")} data-probe={probes(...scene.axis, scene.fill, scene.ring, scene.groups, scene.nodeValue)}>
      {points.map((point, node) => {
        const of = fill?.[node] ?? 0;
        const isMask = scene.fill?.kind === "mask";
        const fillClass = scene.fill && fill ? (isMask ? (of === 1 ? "fill-on" : "fill-off") : classFill(scene.fill.classes[of]?.name, of)) : "fill-off";
        const isWrong = sets.some(([, wrong]) => wrong.has(node));
        const isChanged = !isWrong && (sets.some(([changed]) => changed.has(node)) || changedValue.has(node));
        const number = value?.[node] ?? 0;
        const hasValue = !isSmall && value && (number !== 0 || of > 0);
        const groupOf = group?.[node];
        const inGroup = groupOf !== undefined && group?.some((other, k) => k !== node && other === groupOf);
        return (
          <g key={node} class={classes("node", fillClass, isChanged && "changed", isWrong && "wrong")} data-cell={node}
            transform={`translate(${round(point.x)} ${round(point.y)})`}>
            {isChanged && <circle class="halo" r={round(radius + 5)} />}
            {inGroup && <circle class={`group g-${groupOf % 6}`} r={round(radius + 3.5)} />}
            {ring?.[node] === 1 && <circle class="ring" r={round(radius + 3.5)} />}
            <circle class="disc" r={round(radius)} />
            <text class="number" y={hasValue ? -1 : isSmall ? round(radius * 0.34) : 4.5} style={isSmall ? { fontSize: `${round(Math.min(9.5, radius * 1.05))}px` } : {}}>
              {node}
            </text>
            {hasValue && (
              <text class={classes("value", wrongValue.has(node) && "wrong")} y={11}>
                {precise(number, 1.7 * radius, 10)}
              </text>
            )}
            {isMask && of === 1 && <path class="check" d={checkMark(radius * 0.72, -radius * 0.72, Math.min(8, radius * 0.6))} />}
            {isChanged && <path class="diamond" d={`M${round(-radius * 0.8)} ${round(-radius * 0.8 - 5)}l5 5l-5 5l-5 -5z`} />}
            {isWrong && <path class="cross" d={crossMark(-radius * 0.8, radius * 0.8, 9)} />}
          </g>
        );
      })}
    </g>
  );
}

export interface NodeLabelsProps {
  scene: Scene;
  view: View;
  points: Point[];
  radius: number;
  bounds: Box;
  obstacles?: Box[];
}

/** Labels of index pointers, those of one node in a row. */
export function NodeLabels({ scene, view, points, radius, bounds, obstacles = [] }: NodeLabelsProps) {
  const byNode = new Map<number, Colored[]>();
  for (const cursor of scene.cursors) {
    const node = view.one(cursor.series);
    if (node !== null && node < points.length) {
      byNode.set(node, [...(byNode.get(node) ?? []), cursor]);
    }
  }
  const groups = [...byNode.entries()];
  const widths = groups.map(([, cursors]) => cursors.reduce((sum, { series }) => sum + pillWidth(series.name) + 2, -2));
  const places = placeCallouts(points, radius, groups.map(([node], k) => ({ node, width: widths[k] as number, height: 17 })), bounds, obstacles);
  const shown = new Set(groups.flatMap(([, cursors]) => cursors));
  return (
    <g class="callouts">
      {groups.map(([node, cursors], k) => {
        const { at } = places[k] as (typeof places)[number];
        const point = points[node] as Point;
        let x = at.x - (widths[k] as number) / 2;
        return (
          <g key={node}>
            <path class="leader" d={leader(point, at, radius)} />
            {cursors.map(({ series, color }) => {
              const width = pillWidth(series.name);
              const center = x + width / 2;
              x += width + 2;
              const isWrong = view.wrong(series).size > 0;
              return (
                <g key={series.name} data-probe={probes(series)}>
                  <Pill x={center} y={at.y} text={series.name} color={color} isNew={view.changed(series).size > 0} stage={series.stage} />
                  {isWrong && <path class="cross" d={crossMark(center + width / 2 - 2, at.y - 7, 8)} />}
                </g>
              );
            })}
          </g>
        );
      })}
      {scene.cursors.map((cursor) => (shown.has(cursor) ? null : <g key={cursor.series.name} data-probe={probes(cursor.series)} />))}
    </g>
  );
}

/** A line from the rim of a node to its label. */
function leader(from: Point, to: Point, radius: number): string {
  const start = between(from, to, Math.min(1, radius / Math.max(distance(from, to), 1e-6)));
  return `M${round(start.x)} ${round(start.y)}L${round(to.x)} ${round(to.y)}`;
}
