// What marks mean: a sample of the mark of every series. Beside the picture in a page, below it in a saved one.

import { round, textWidth } from "../layout/geometry.ts";
import type { Color } from "../model/palette.ts";
import type { Series } from "../model/recording.ts";
import type { Scene } from "../model/scene.ts";
import { arrowHead, checkMark, crossMark, Pill } from "./marks.tsx";
import type { Panel } from "./panel.ts";

export interface Entry {
  label: string;
  series: Series[];
  mark: { kind: MarkKind; color: Color };
  /** What the mark means, if it is not that of a series. */
  text?: string;
}

type MarkKind =
  | "pill" | "bracket" | "arrow" | "list" | "disc" | "point" | "ring" | "group" | "edge" | "faint-edge" | "bars" | "table" | "split" | "traceback" | "plot" | "level" | "number"
  | "letter" | "wrong" | "wrong-number" | "wrong-step";

/** Marks of what differs from the truth. */
export const ERRORS: Entry[] = [
  { label: "wrong decision", series: [], mark: { kind: "wrong", color: "gray" }, text: "arrow, line or frame" },
  { label: "wrong number", series: [], mark: { kind: "wrong-number", color: "gray" }, text: "off by over a tenth of its range" },
];

/** Those of the time line. */
export const STEP_ERRORS: Entry[] = [
  { label: "wrong steps", series: [], mark: { kind: "wrong-step", color: "gray" }, text: "in the time line, \u2715 at the first" },
];

/** One entry per series, or per pair of series that are drawn as one. */
export function legend(scene: Scene): Entry[] {
  const entries: Entry[] = [];
  const add = (kind: Entry["mark"]["kind"], color: Color, ...series: (Series | null)[]) => {
    const known = series.filter((one): one is Series => one !== null && !entries.some((entry) => entry.series.includes(one)));
    for (const one of known) {
      entries.push({ label: one.name, series: [one], mark: { kind, color } });
    }
  };
  add("letter", "gray", scene.letters);
  add(scene.kind === "plane" ? "point" : "bars", "gray", ...scene.values);
  for (const { series, color } of scene.arrows) {
    add("arrow", color, series);
  }
  for (const { series, color } of [...scene.chains, ...scene.forests]) {
    add("list", color, series);
  }
  for (const { series, color } of scene.cursors) {
    add("pill", color, series);
  }
  for (const range of scene.ranges) {
    entries.push({ label: range.label, series: [range.low, range.high], mark: { kind: "bracket", color: range.color } });
  }
  add("disc", "blue", scene.fill);
  add("ring", "brown", scene.ring);
  add("group", "purple", scene.groups);
  add("number", "gray", scene.nodeValue);
  for (const { series, color } of scene.edgeMarks) {
    add("edge", color, series);
  }
  add("faint-edge", "gray", scene.liveEdges, ...scene.edgeScalars, scene.weights, scene.adjacency);
  for (const table of scene.tables) {
    add("table", "blue", table.scalar, table.category);
    add(table.isTriangular ? "split" : "table", "purple", table.pointer);
    add("table", "blue", table.known);
  }
  if (scene.tables.some(({ isTriangular, pointer }) => isTriangular && pointer)) {
    entries.push({ label: "best splits", series: [], mark: { kind: "split", color: "green" }, text: "in the result: the ranges that the complete one is split into" });
  }
  if (scene.tables.some(({ category }) => category)) {
    entries.push({ label: "traceback", series: [], mark: { kind: "traceback", color: "green" }, text: "in the result: the choices that lead to the answer" });
  }
  add("bars", "gray", ...scene.strips);
  add("plot", "blue", ...scene.plots);
  add("level", "brown", ...scene.levels);
  add("number", "green", ...scene.axis);
  return entries;
}

/** A sample of a mark, 34 by 18 pixels. */
export function Swatch({ mark: { kind, color }, label }: Pick<Entry, "mark" | "label">) {
  const middle = 9;
  switch (kind) {
    case "pill":
      return <Pill x={17} y={middle} text={label.length > 3 ? "\u2191" : label} color={color} />;
    case "bracket":
      return <path class={`c-${color} bracket-swatch`} d="M3 4v8h28v-8" />;
    case "arrow":
      return (
        <g class={`arrows c-${color}`}>
          <path class="line" d="M2 12C10 2 22 2 27 8" />
          <path class="head" d={arrowHead({ x: 30, y: 12 }, { x: 25, y: 5 }, 8)} />
        </g>
      );
    case "list":
      return (
        <g class={`chip c-${color}`}>
          <rect x={3} y={4} width={10} height={10} rx={2} />
          <rect x={21} y={4} width={10} height={10} rx={2} />
          <path class={`c-${color} list-swatch`} d="M13 9h8" />
        </g>
      );
    case "disc":
      return (
        <g class="node fill-on">
          <circle class="disc" cx={17} cy={middle} r={7} />
          <path class="check" d={checkMark(22, 5, 6)} />
        </g>
      );
    case "point":
      return (
        <g class="node fill-off">
          <path class="leader" d="M5.5 1.5v15h24" />
          <circle class="disc" cx={17} cy={middle - 1} r={4} />
        </g>
      );
    case "ring":
      return (
        <g class="node fill-off">
          <circle class="ring" cx={17} cy={middle} r={8} />
          <circle class="disc" cx={17} cy={middle} r={5} />
        </g>
      );
    case "group":
      return (
        <g class="node fill-off">
          <circle class="group g-2" cx={17} cy={middle} r={7} />
        </g>
      );
    case "edge":
      return (
        <g class={`edge-marks c-${color}`}>
          <path class="line" d="M4 9h26" />
        </g>
      );
    case "faint-edge":
      return (
        <g class="edges">
          <path class="line" d="M3 9h28" />
        </g>
      );
    case "bars":
      return (
        <g class="cell">
          <rect class="ground" x={6} y={2} width={9} height={14} rx={2} />
          <rect class="bar" x={6} y={9} width={9} height={7} rx={2} />
          <rect class="ground" x={18} y={2} width={9} height={14} rx={2} />
          <rect class="bar" x={18} y={5} width={9} height={11} rx={2} />
        </g>
      );
    case "table":
      return (
        <g class="shades">
          {[0, 1, 2, 3, 4, 5].map((k) => (
            <path key={k} class={`shade-${k + 1}`} d={`M${5 + (k % 3) * 8} ${2 + Math.floor(k / 3) * 7}h7v6h-7z`} />
          ))}
        </g>
      );
    case "split":
      return (
        <g class={color === "green" ? "splits final" : "splits"}>
          <path class="line" d="M17 3L9 10M17 3l8 7" />
          <rect x={3} y={10} width={12} height={6} rx={1.5} />
          <rect x={19} y={10} width={12} height={6} rx={1.5} />
        </g>
      );
    case "traceback":
      return (
        <g class="splits final">
          {[0, 1, 2].map((k) => (
            <rect key={k} x={5 + 8 * k} y={1 + 5 * k} width={8} height={5} rx={1.5} />
          ))}
        </g>
      );
    case "wrong":
      return (
        <g class="arrows">
          <g class="arrow wrong">
            <path class="line" d="M2 9h24" />
            <path class="head" d={arrowHead({ x: 32, y: 9 }, { x: 20, y: 9 }, 8)} />
            <path class="cross" d={crossMark(14, 9, 8)} />
          </g>
        </g>
      );
    case "wrong-number":
      return (
        <g class="node">
          <text class="value wrong" x={17} y={middle + 4}>
            .42
          </text>
        </g>
      );
    case "wrong-step":
      return (
        <g class="error-bars">
          <path d="M9 4h3v13h-3zM20 4h2v13h-2zM27 4h2v13h-2z" />
          <path class="cross" d={crossMark(10.5, 4, 6)} />
        </g>
      );
    case "plot":
      return (
        <g class="plot">
          <path class="trend" d="M3 14h7v-6h8v3h6V4h7" />
        </g>
      );
    case "level":
      return (
        <g class="level">
          <path d="M3 9h28" />
        </g>
      );
    default:
      return (
        <g class={kind === "letter" ? "letters cell" : "axis"}>
          <text x={17} y={middle + 4}>
            {kind === "letter" ? "abc" : color === "green" ? "0 1 2" : ".42"}
          </text>
        </g>
      );
  }
}

/** All entries in lines, for saved pictures. */
export function legendPanel(scene: Scene, width: number, hasErrors: boolean): Panel {
  const entries = [...legend(scene), ...(hasErrors ? ERRORS : [])];
  const sizes = entries.map((entry) => 42 + textWidth(entry.label, 11) + 22);
  let [x, y] = [0, 0];
  const places = sizes.map((size) => {
    if (x > 0 && x + size > width) {
      [x, y] = [0, y + 24];
    }
    const at = { x, y };
    x += size;
    return at;
  });
  const draw = () => (
    <g class="legend">
      {entries.map((entry, index) => (
        <g key={entry.label} transform={`translate(${round(places[index]?.x ?? 0)} ${places[index]?.y ?? 0})`}>
          <Swatch mark={entry.mark} label={entry.label} />
          <text class="label" x={42} y={13}>
            {entry.label}
          </text>
        </g>
      ))}
    </g>
  );
  return { name: "legend", width, height: y + 24, draw };
}
