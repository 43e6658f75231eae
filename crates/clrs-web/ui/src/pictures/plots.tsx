// Values of the graph over time: a line for scalars, steps for masks, bands for categories; the current step is marked.

import { round, textWidth } from "../layout/geometry.ts";
import { className } from "../model/changes.ts";
import { long } from "../model/format.ts";
import { classFill } from "../model/palette.ts";
import type { Series } from "../model/recording.ts";
import type { Scene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { classes, crossMark, Keep, probes } from "./marks.tsx";
import type { Panel } from "./panel.ts";

const LINE = 30;
const HEIGHT = 20;

export function plotPanel(scene: Scene, frames: number, width: number): Panel | null {
  const levels = scene.kind === "array" ? [] : scene.levels;
  const rows = [...scene.plots, ...levels];
  if (rows.length === 0) {
    return null;
  }
  const label = Math.min(110, Math.max(58, ...rows.map((series) => textWidth(series.name, 11) + 12)));
  const texts = rows.flatMap((series) => (series.kind === "scalar" ? ["\u22120.0000"] : [0, 1, 2, 3, 4].map((value) => brief(series, value))));
  const value = Math.min(170, Math.max(...texts.map((text) => textWidth(text, 11))) + 10);
  const from = label;
  const to = Math.max(from + 60, width - value);
  const draw = (view: View) => (
    <g class="plots">
      {rows.map((series, index) => (
        <g key={series.name} transform={`translate(0 ${index * LINE + 4})`} data-probe={probes(series)}>
          <Plot series={series} view={view} frames={frames} label={label} from={from} to={to} />
        </g>
      ))}
    </g>
  );
  return { name: "plots", width, height: rows.length * LINE + 6, draw };
}

/** The name of a class without what is in parentheses. */
function brief(series: Series, value: number): string {
  return className(series, value).replace(/ \(.*\)$/, "");
}

function Plot({ series, view, frames, label, from, to }: { series: Series; view: View; frames: number; label: number; from: number; to: number }) {
  const own = view.recording.get(series.name) ?? series;
  const x = (frame: number) => from + ((to - from) * frame) / Math.max(frames - 1, 1);
  const value = view.one(series);
  const isChanged = view.changed(series).size > 0;
  const isWrong = view.wrong(series).size > 0;
  const isScalar = series.kind === "scalar";
  const y = value === null ? HEIGHT : HEIGHT - HEIGHT * heightOf(own)(value);
  return (
    <g class={classes("plot", isChanged && "changed", isWrong && "wrong")}>
      <text class="row-label" x={label - 10} y={HEIGHT / 2 + 4}>
        {series.name}
      </text>
      <Keep by={own}>
        {series.kind === "categorical" ? <Bands series={own} frames={frames} x={x} /> : <Line series={own} frames={frames} x={x} />}
      </Keep>
      {value !== null && (
        <>
          <path class="now" d={`M${round(x(view.frame))} -2V${HEIGHT + 2}`} />
          {series.kind !== "categorical" && <circle class="dot" cx={round(x(view.frame))} cy={round(y)} r={3.4} />}
          <text class="current" x={to + 9} y={HEIGHT / 2 + 4}>
            {isScalar ? long(value) : brief(own, value)}
          </text>
        </>
      )}
      {isWrong && <path class="cross" d={crossMark(to + 4, 2, 7)} />}
    </g>
  );
}

function heightOf(series: Series): (value: number) => number {
  const values = series.rows.map((row) => row[0] ?? 0).filter(Number.isFinite);
  const [least, most] = [Math.min(0, ...values), Math.max(series.kind === "mask" ? 1 : 0, ...values)];
  return (value) => (value - least) / (most - least || 1);
}

function Line({ series, frames, x }: { series: Series; frames: number; x(frame: number): number }) {
  const height = heightOf(series);
  let [path, last] = ["", ""];
  for (let frame = 0; frame < frames; frame++) {
    const value = series.at(frame)?.[0];
    if (value === undefined || !Number.isFinite(value)) {
      continue;
    }
    const y = String(round(HEIGHT - HEIGHT * height(value)));
    if (y !== last || frame === frames - 1) {
      path += path ? `H${round(x(frame))}V${y}` : `M${round(x(frame))} ${y}`;
      last = y;
    }
  }
  const zero = round(HEIGHT - HEIGHT * height(0));
  return (
    <>
      <path class="zero" d={`M${round(x(0))} ${zero}H${round(x(frames - 1))}`} />
      <path class="trend" d={path} />
    </>
  );
}

function Bands({ series, frames, x }: { series: Series; frames: number; x(frame: number): number }) {
  const bands: { value: number; from: number; to: number }[] = [];
  for (let frame = 0; frame < frames; frame++) {
    const value = series.at(frame)?.[0];
    const last = bands[bands.length - 1];
    if (value === undefined) {
      continue;
    }
    if (last && last.value === value) {
      last.to = frame + 1;
    } else {
      bands.push({ value, from: frame, to: frame + 1 });
    }
  }
  return (
    <g class="bands-of-time">
      {bands.map(({ value, from, to }) => (
        <rect key={from} class={classFill(series.classes[value]?.name, value)} x={round(x(from))} y={4} height={HEIGHT - 8}
          width={round(Math.max(x(Math.min(to, frames - 1)) - x(from), 0.8))} />
      ))}
    </g>
  );
}
