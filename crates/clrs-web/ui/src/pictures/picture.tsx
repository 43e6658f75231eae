// The composed picture of a run.

import type { Composition } from "../layout/compose.ts";
import { beside, flow, stack } from "../layout/compose.ts";
import { round } from "../layout/geometry.ts";
import type { Scene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { arrayPanel } from "./array.tsx";
import { graphPanel } from "./graph.tsx";
import { intervalPanel } from "./intervals.tsx";
import { chainPanel, forestPanel } from "./lists.tsx";
import { GAP, type Panel } from "./panel.ts";
import { planePanel } from "./plane.tsx";
import { plotPanel } from "./plots.tsx";
import { stringsPanel } from "./strings.tsx";
import { stripPanel } from "./strips.tsx";
import { tablePanels } from "./table.tsx";

/** Room around the panels. */
const EDGE = 10;
/** Pictures that are narrower have their panels below each other. */
const WIDE = 760;
/** Lower panels are drawn below the main one. */
const BESIDE = 120;
/** Share of the width for the first of several tables. */
const MAIN_SHARE = 0.62;
/** More nodes need the full width for a column each. */
const FEW = 24;

/** Panels of a scene in a picture of about the given width. `frames` is the length of the time axis. */
export function composePicture(scene: Scene, frames: number, width: number): Composition<Panel> {
  const inner = width - 2 * EDGE;
  const isWide = width >= WIDE;
  if (scene.kind === "graph" || scene.kind === "plane") {
    const make = scene.kind === "graph" ? graphPanel : planePanel;
    const isFew = scene.nodes <= FEW;
    const others = (width: number, height: number) => [
      ...scene.tables.flatMap((table) => tablePanels(scene, table, width, height)),
      ...scene.forests.map((pointer) => forestPanel(scene, pointer, width)),
      ...scene.chains.map((pointer) => chainPanel(pointer, width)),
      ...(isFew ? list(stripPanel(scene, width)) : []),
      ...list(plotPanel(scene, frames, width)),
    ];
    const below = isFew ? [] : list(stripPanel(scene, inner));
    const share = inner * (!isFew ? 0.36 : scene.tables.some((table) => table.scalar) ? 0.55 : 0.44);
    const column = isWide ? others(share, 500) : [];
    const height = column.reduce((sum, panel) => sum + panel.height, 0);
    if (height > BESIDE) {
      const main = make(scene, inner - share - GAP, isFew ? Math.min(540, Math.max(420, height)) : 600);
      return stack(beside(main, column, 18), flow(below, inner, GAP), GAP);
    }
    const tall = scene.nodes <= 6 ? 360 : isWide ? (isFew ? 500 : 600) : isFew ? 460 : 560;
    const main = make(scene, scene.kind === "plane" ? Math.min(inner, tall * 1.3) : inner, Math.min(tall, inner * (isWide ? 0.62 : 1.2)));
    return flow([main, ...others(Math.min(inner, 620), inner), ...below], inner, GAP);
  }
  const others = [
    ...scene.forests.map((pointer) => forestPanel(scene, pointer, inner)),
    ...scene.tables.flatMap((table, index) => tablePanels(scene, table, Math.min(isWide ? tableWidth(scene, index, inner) : inner, 860), isWide ? 520 : 400)),
    ...(scene.kind === "array" ? [] : list(stripPanel(scene, inner))),
    ...list(plotPanel(scene, frames, Math.min(inner, 620))),
  ];
  return flow([mainPanel(scene, frames, inner), ...others], inner, GAP);
}

/** Width of a table beside others: the first, which has the choices, has the most. */
function tableWidth({ tables }: Scene, index: number, inner: number): number {
  const free = inner - GAP * (tables.length - 1);
  if (tables.length === 1) {
    return free;
  }
  return index === 0 ? MAIN_SHARE * free : ((1 - MAIN_SHARE) * free) / (tables.length - 1);
}

/** The most telling panel alone, for small pictures. */
export function composeSmall(scene: Scene, frames: number, width: number): Composition<Panel> {
  const table = scene.tables.find((one) => one.isTriangular || one.category);
  const height = width * 0.62;
  const panel = table
    ? (tablePanels(scene, table, width, height)[0] as Panel)
    : scene.kind === "graph"
      ? graphPanel(scene, width, height)
      : scene.kind === "plane"
        ? planePanel(scene, width, height)
        : mainPanel(scene, frames, width);
  return { placed: [{ panel, x: 0, y: 0 }], width: panel.width, height: panel.height };
}

function mainPanel(scene: Scene, frames: number, width: number): Panel {
  switch (scene.kind) {
    case "strings":
      return stringsPanel(scene, frames, width);
    case "intervals":
      return intervalPanel(scene, Math.min(width, 860));
    default:
      return arrayPanel(scene, width);
  }
}

function list(panel: Panel | null): Panel[] {
  return panel ? [panel] : [];
}

export interface PictureProps {
  composition: Composition<Panel>;
  view: View;
  /** What the picture shows, for screen readers. */
  label: string;
  children?: preact.ComponentChildren;
}

export function Picture({ composition, view, label, children }: PictureProps) {
  const [width, height] = [Math.ceil(composition.width + 2 * EDGE), Math.ceil(composition.height + 2 * EDGE)];
  return (
    <svg class="picture" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} preserveAspectRatio="xMidYMid meet">
      {composition.placed.map(({ panel, x, y }) => (
        <g key={panel.name} data-panel={panel.name} transform={`translate(${round(x + EDGE)} ${round(y + EDGE)})`}>
          {panel.draw(view)}
        </g>
      ))}
      {children}
    </svg>
  );
}
