// One picture with its tooltips, scaled to the room it has.

import { useEffect, useMemo, useState } from "preact/hooks";
import { cellTip, changeText, changes, stepLabel, type TipLine } from "../model/describe.ts";
import { percent } from "../model/format.ts";
import type { Recording } from "../model/recording.ts";
import type { Scene } from "../model/scene.ts";
import { View } from "../model/view.ts";
import { composePicture, Picture } from "../pictures/picture.tsx";
import { useSize } from "./hooks.ts";

/** Widths in pixels that pictures are composed for. */
const NARROWEST = 380;
const WIDEST = 1000;
/** A picture is scaled down at most by this factor to fit the height; then it scrolls. */
const SMALLEST = 0.72;
/** Pages on which everything is below each other, as in page.css: pictures take the height that they need, up to this scale. */
const STACKED = "(max-width: 1000px)";
const STACKED_SCALE = 1.2;

export interface PaneProps {
  title: string;
  scene: Scene;
  recording: Recording;
  /** The recorded run, if `recording` is a prediction. */
  truth?: Recording | null;
  frame: number;
  /** Number of frames of the time axis: that of the longest run in view. */
  frames: number;
  isTitled?: boolean;
}

export function Pane({ title, scene, recording, truth = null, frame, frames, isTitled = false }: PaneProps) {
  const [ref, size] = useSize<HTMLDivElement>();
  const width = Math.round(Math.min(Math.max(size.width, NARROWEST), WIDEST));
  // Layout takes time: not before the width is known.
  const isMeasured = size.width > 0;
  const composition = useMemo(() => (isMeasured ? composePicture(scene, frames, width) : null), [scene, frames, width, isMeasured]);
  const view = useMemo(() => new View(recording, frame, truth), [recording, frame, truth]);
  const { shown } = changes(recording, view.frame, 6);
  const label = `${title}, ${stepLabel(view.frame, recording.steps)}. ${shown.map(changeText).join("; ")}`;
  const [tip, setTip] = useState<Tip | null>(null);
  // A finger leaves no pointer behind: what it tapped stays until it taps elsewhere.
  useEffect(() => {
    const close = ({ target }: Event) => target instanceof Node && !ref.current?.contains(target) && setTip(null);
    addEventListener("pointerdown", close);
    return () => removeEventListener("pointerdown", close);
  }, []);
  return (
    <figure class="pane">
      {isTitled && (
        <figcaption>
          <b>{title}</b> <span class="step">{stepLabel(view.frame, recording.steps)}</span>
        </figcaption>
      )}
      <div class="canvas" ref={ref} onPointerMove={(event) => event.pointerType === "touch" || setTip(findTip(event, recording))}
        onPointerLeave={(event) => event.pointerType === "touch" || setTip(null)} onClick={(event) => setTip(findTip(event, recording))}>
        {composition && (
          <div class="scaled" style={{ width: `${scaledWidth(composition, size)}px` }}>
            <Picture composition={composition} view={view} label={label} />
          </div>
        )}
        {tip && <Tooltip tip={tip} lines={cellTip(view, tip.location, tip.cell)} nodes={recording.nodes} width={size.width} />}
      </div>
    </figure>
  );
}

/** Width of a picture that fits into its place, unless that would make it too small. */
function scaledWidth({ width, height }: { width: number; height: number }, place: { width: number; height: number }): number {
  const fitWidth = place.width / (width + 20);
  const fitHeight = matchMedia(STACKED).matches ? STACKED_SCALE : place.height / (height + 20);
  const scale = Math.max(Math.min(fitWidth, fitHeight), Math.min(fitWidth, SMALLEST));
  return Math.floor((width + 20) * scale);
}

interface Tip {
  x: number;
  y: number;
  location: "node" | "edge";
  cell: number;
}

/** How far from a mark a finger may be, in pixels. */
const FINGER = 10;
const AROUND: [number, number][] = [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [0.7, 0.7], [-0.7, 0.7], [0.7, -0.7], [-0.7, -0.7]];

/** What the pointer is over, or a finger next to: marks have the names of their probes, and the number of their cell. */
function findTip(event: MouseEvent, recording: Recording): Tip | null {
  const isTouch = event instanceof PointerEvent && event.pointerType === "touch";
  const targets = isTouch
    ? AROUND.map(([x, y]) => document.elementFromPoint(event.clientX + x * FINGER, event.clientY + y * FINGER))
    : [event.target as Element];
  const target = targets.find((one) => one?.closest("[data-cell]"));
  const cell = target?.closest("[data-cell]")?.getAttribute("data-cell");
  const names = target?.closest("[data-probe]")?.getAttribute("data-probe")?.split(" ") ?? [];
  const series = recording.series.find((one) => one.probes.some((probe) => names.includes(probe.name)) && one.location !== "graph");
  if (!cell || !series) {
    return null;
  }
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const location = series.location === "edge" ? "edge" : "node";
  return { x: event.clientX - box.left, y: event.clientY - box.top, location, cell: Number(cell) };
}

function Tooltip({ tip, lines, nodes, width }: { tip: Tip; lines: TipLine[]; nodes: number; width: number }) {
  const title = tip.location === "node" ? `node ${tip.cell}` : `${Math.floor(tip.cell / nodes)} \u2192 ${tip.cell % nodes}`;
  const side = tip.x > Math.min(260, width / 2) ? { right: `calc(100% - ${tip.x - 14}px)` } : { left: `${tip.x + 14}px` };
  return (
    <div class="tooltip" style={{ ...side, top: `${tip.y + 12}px` }}>
      <b>{title}</b>
      <table>
        <tbody>
          {lines.map(({ name, value, candidates }) => (
            <tr key={name}>
              <th>{name}</th>
              <td>
                {value}
                {candidates.map(({ label, probability }) => (
                  <span key={label} class="candidate">
                    <meter min={0} max={1} value={probability} /> {label} {percent(probability)}
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
