// Rows of values below or beside the main picture, one column per node.

import { columns } from "../layout/columns.ts";
import { textWidth } from "../layout/geometry.ts";
import type { Scene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { RowLabel } from "./array.tsx";
import { Axis, axisHeight, ClassCells, ScalarCells, scaleOf } from "./cells.tsx";
import type { Panel } from "./panel.ts";

const ROW = 26;

export function stripPanel(scene: Scene, width: number): Panel | null {
  const hasOrder = scene.kind === "plane" || scene.kind === "intervals";
  if (scene.strips.length === 0 && !(hasOrder && scene.fixedOrder)) {
    return null;
  }
  const label = Math.max(58, ...scene.strips.map((series) => textWidth(series.name, 11) + 12));
  const grid = columns(scene.nodes, label, width - 4, 44);
  const top = axisHeight(scene, grid);
  const rows = scene.strips.map((series, index) => ({ series, scale: scaleOf(series), y: top + index * ROW }));
  const nodes = Array.from({ length: scene.nodes }, (_, node) => node);
  const draw = (view: View) => (
    <g class="strips">
      <RowLabel text={scene.fixedOrder?.name ?? ""} x={label - 10} y={12} />
      <Axis scene={scene} columns={grid} y={2} nodes={nodes} />
      {rows.map(({ series, scale, y }) => (
        <g key={series.name}>
          <RowLabel text={series.name} x={label - 10} y={y + 15} />
          {series.kind === "scalar" ? (
            <ScalarCells view={view} series={series} columns={grid} scale={scale} y={y} height={ROW - 4} />
          ) : (
            <ClassCells view={view} series={series} columns={grid} y={y} height={ROW - 4} />
          )}
        </g>
      ))}
    </g>
  );
  return { name: "strips", width: grid.right + 4, height: top + rows.length * ROW, draw };
}
