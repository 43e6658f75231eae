// Points in the plane: lines that the problem draws, the outline of marked points, pointers as arrows, and a dashed line through
// the last three index pointers, which is the triangle whose orientation geometric algorithms test.

import { fit, round, type Box, type Point } from "../layout/geometry.ts";
import { fittingRadius } from "../layout/graph.ts";
import { convexHull } from "../layout/hull.ts";
import type { Colored, Scene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { NodeLabels } from "./graph.tsx";
import { checkMark, classes, crossMark, curve, Keep, probes } from "./marks.tsx";
import type { Panel } from "./panel.ts";

const MARGIN = 40;

export function planePanel(scene: Scene, width: number, height: number): Panel {
  const [xs, ys] = scene.values.map((series) => series.rows[0] ?? []);
  const raw = Array.from({ length: scene.nodes }, (_, node) => ({ x: xs?.[node] ?? 0, y: -(ys?.[node] ?? 0) }));
  const bounds = { x: 0, y: 0, width, height };
  const points = fit(raw, { x: MARGIN, y: MARGIN, width: width - 2 * MARGIN, height: height - 2 * MARGIN });
  const radius = fittingRadius(points, scene.nodes <= 24 ? 11 : 7);
  const draw = (view: View) => <PlanePicture scene={scene} view={view} points={points} radius={Math.max(radius, 5)} bounds={bounds} />;
  return { name: "plane", width, height, draw };
}

interface PlaneProps {
  scene: Scene;
  view: View;
  points: Point[];
  radius: number;
  bounds: Box;
}

function PlanePicture({ scene, view, points, radius, bounds }: PlaneProps) {
  const marks = view.row(scene.fill);
  const marked = points.filter((_, node) => marks?.[node] === 1);
  const [changed, wrong] = [view.changed(scene.fill), view.wrong(scene.fill)];
  const hasNumbers = radius >= 7;
  return (
    <g class="plane">
      <Keep by={points}>
        <rect class="frame" x={0.5} y={0.5} width={bounds.width - 1} height={bounds.height - 1} rx={6} />
      </Keep>
      {scene.polylines.length === 0 && marked.length > 2 && <path class="outline" d={polygon(convexHull(marked))} />}
      {scene.polylines.map((nodes) => (
        <path key={nodes[0]} class="segment" d={line(nodes.map((node) => points[node] as Point))} />
      ))}
      <Probe scene={scene} view={view} points={points} />
      {scene.arrows.map((pointer) => (
        <PlaneArrows key={pointer.series.name} view={view} pointer={pointer} points={points} radius={radius} />
      ))}
      <g class={classes("nodes", "small")} data-probe={probes(...scene.axis, ...scene.values, scene.fill)}>
        {points.map((point, node) => (
          <g key={node} data-cell={node} transform={`translate(${round(point.x)} ${round(point.y)})`}
            class={classes("node", marks?.[node] === 1 ? "fill-on" : "fill-off", changed.has(node) && "changed", wrong.has(node) && "wrong")}>
            {changed.has(node) && <circle class="halo" r={radius + 5} />}
            <circle class="disc" r={radius} />
            {hasNumbers && (
              <text class="number" y={3.2}>
                {node}
              </text>
            )}
            {marks?.[node] === 1 && hasNumbers && <path class="check" d={checkMark(radius * 0.9, -radius * 0.9, 6)} />}
            {changed.has(node) && <path class="diamond" d={`M${round(-radius)} ${round(-radius - 4)}l4 4l-4 4l-4 -4z`} />}
            {wrong.has(node) && <path class="cross" d={crossMark(-radius, radius, 8)} />}
          </g>
        ))}
      </g>
      <NodeLabels scene={scene} view={view} points={points} radius={radius} bounds={bounds} />
    </g>
  );
}

/** The line through the last three index pointers. */
function Probe({ scene, view, points }: { scene: Scene; view: View; points: Point[] }) {
  const cursors = scene.cursors.filter(({ series }) => series.stage === "hint").slice(-3);
  const nodes = cursors.map(({ series }) => view.one(series));
  if (view.isResult || nodes.length < 3 || nodes.some((node) => node === null)) {
    return null;
  }
  const corners = nodes.map((node) => points[node as number] as Point);
  return (
    <g class="orientation">
      <path class="area" d={polygon(corners)} />
      <path class="line" d={line(corners)} />
    </g>
  );
}

function PlaneArrows({ view, pointer, points, radius }: { view: View; pointer: Colored; points: Point[]; radius: number }) {
  const [changed, wrong] = [view.changed(pointer.series), view.wrong(pointer.series)];
  return (
    <g class={`arrows c-${pointer.color}`} data-probe={probes(pointer.series)}>
      {view.row(pointer.series)?.map((to, node) => {
        if (to === node || to >= points.length) {
          return null;
        }
        const path = curve(points[node] as Point, points[to] as Point, [radius, radius + 2], 0, 9);
        return (
          <g key={node} class={classes("arrow", changed.has(node) && "changed", wrong.has(node) && "wrong")} data-cell={node}>
            {changed.has(node) && <path class="halo" d={path.line} />}
            <path class="line" d={path.line} />
            <path class="head" d={path.head} />
            {wrong.has(node) && <path class="cross" d={crossMark(path.middle.x, path.middle.y, 9)} />}
          </g>
        );
      })}
    </g>
  );
}

function line(points: Point[]): string {
  return points.map(({ x, y }, index) => `${index ? "L" : "M"}${round(x)} ${round(y)}`).join("");
}

function polygon(points: Point[]): string {
  return points.length > 0 ? `${line(points)}Z` : "";
}
