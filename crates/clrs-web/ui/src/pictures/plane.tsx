// Points in the plane: lines that the problem draws, the outline of marked points, pointers as arrows, and a dashed line through
// the last three index pointers, which is the triangle whose orientation geometric algorithms test.

import { placeBeside } from "../layout/callouts.ts";
import { centered, fit, round, textWidth, type Box, type Point } from "../layout/geometry.ts";
import { fittingRadius } from "../layout/graph.ts";
import { convexHull } from "../layout/hull.ts";
import type { Scene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { Arrows } from "./arrows.tsx";
import { checkMark, classes, crossMark, curve, Keep, probes } from "./marks.tsx";
import { NodeLabels } from "./nodes.tsx";
import type { Panel } from "./panel.ts";

const MARGIN = 40;
/** Smaller points have their number beside them, if they are few. */
const NUMBERED = 7;
const FEW = 24;
const FONT = 9.5;
const HEIGHT = 11;

export function planePanel(scene: Scene, width: number, height: number): Panel {
  const [xs, ys] = scene.values.map((series) => series.rows[0] ?? []);
  const raw = Array.from({ length: scene.nodes }, (_, node) => ({ x: xs?.[node] ?? 0, y: -(ys?.[node] ?? 0) }));
  const bounds = { x: 0, y: 0, width, height };
  const points = fit(raw, { x: MARGIN, y: MARGIN, width: width - 2 * MARGIN, height: height - 2 * MARGIN });
  const radius = Math.max(fittingRadius(points, scene.nodes <= FEW ? 11 : 7), 5);
  const sizes = points.map((_, node) => ({ width: numberWidth(node), height: HEIGHT }));
  const numbers = radius < NUMBERED && scene.nodes <= FEW ? placeBeside(points, radius, sizes, bounds) : [];
  const draw = (view: View) => <PlanePicture scene={scene} view={view} points={points} radius={radius} bounds={bounds} numbers={numbers} />;
  return { name: "plane", width, height, draw };
}

function numberWidth(node: number): number {
  return textWidth(String(node), FONT) + 2;
}

interface PlaneProps {
  scene: Scene;
  view: View;
  points: Point[];
  radius: number;
  bounds: Box;
  /** Where numbers are that are beside their points. */
  numbers: (Point | null)[];
}

function PlanePicture({ scene, view, points, radius, bounds, numbers }: PlaneProps) {
  const marks = view.row(scene.fill);
  const marked = points.filter((_, node) => marks?.[node] === 1);
  const [changed, wrong] = [view.changed(scene.fill), view.wrong(scene.fill)];
  const hasNumbers = radius >= NUMBERED;
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
        <Arrows key={pointer.series.name} view={view} series={pointer.series} class={`arrows c-${pointer.color}`}
          path={(node, to) => curve(points[node] as Point, points[to] as Point, [radius, radius + 2], 0, 9)}
          missing={(node) => ({ x: (points[node] as Point).x + radius, y: (points[node] as Point).y - radius })} />
      ))}
      <g class={classes("nodes", "small")} data-probe={probes(...scene.axis, ...scene.values, scene.fill)}>
        {points.map((point, node) => (
          <g key={node} data-cell={node} transform={`translate(${round(point.x)} ${round(point.y)})`}
            class={classes("node", marks?.[node] === 1 ? "fill-on" : "fill-off", changed.has(node) && "changed", wrong.has(node) && "wrong")}>
            {changed.has(node) && !wrong.has(node) && <circle class="halo" r={radius + 5} />}
            <circle class="disc" r={radius} />
            {hasNumbers && (
              <text class="number" y={3.2}>
                {node}
              </text>
            )}
            {marks?.[node] === 1 && hasNumbers && <path class="check" d={checkMark(radius * 0.9, -radius * 0.9, 6)} />}
            {changed.has(node) && !wrong.has(node) && <path class="diamond" d={`M${round(-radius)} ${round(-radius - 4)}l4 4l-4 4l-4 -4z`} />}
            {wrong.has(node) && <path class="cross" d={crossMark(-radius, radius, 8)} />}
          </g>
        ))}
      </g>
      <Keep by={numbers}>
        <g class="beside">
          {numbers.map((at, node) => at && (
            <text key={node} x={round(at.x)} y={round(at.y + 3.3)}>
              {node}
            </text>
          ))}
        </g>
      </Keep>
      <NodeLabels scene={scene} view={view} points={points} radius={radius} bounds={bounds}
        obstacles={numbers.flatMap((at, node) => (at ? [centered(at, numberWidth(node), HEIGHT)] : []))} />
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

function line(points: Point[]): string {
  return points.map(({ x, y }, index) => `${index ? "L" : "M"}${round(x)} ${round(y)}`).join("");
}

function polygon(points: Point[]): string {
  return points.length > 0 ? `${line(points)}Z` : "";
}
