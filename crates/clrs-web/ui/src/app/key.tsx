// The key: a sample of every mark, what it means, and its current value.

import { useMemo } from "preact/hooks";
import { valueText } from "../model/describe.ts";
import { short } from "../model/format.ts";
import { classFill } from "../model/palette.ts";
import type { Series } from "../model/recording.ts";
import type { Scene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { classes } from "../pictures/marks.tsx";
import { ERRORS, legend, STEP_ERRORS, Swatch, type Entry } from "../pictures/legend.tsx";
import { inline } from "./markdown.tsx";

/** More values are left to the picture. */
const MAX_VALUES = 24;

export function Key({ scene, view, hasErrors }: { scene: Scene; view: View; hasErrors: boolean }) {
  const entries = useMemo(() => [...legend(scene), ...(hasErrors ? [...ERRORS, ...STEP_ERRORS] : [])], [scene, hasErrors]);
  return (
    <ul class="key">
      {entries.map((entry) => (
        <li key={entry.label} class={classes(entry.series.some((series) => view.changed(series).size > 0) && "changed", entry.series[0]?.stage)}>
          <Sample entry={entry} />
          <div>
            <Meaning entry={entry} />
            {entry.series.map((series) => (
              <p key={series.name}>
                <b>{series.name}</b> <span class="value">{currentValue(view, series)}</span>
                <span class="description">{inline(series.description)}</span>
              </p>
            ))}
            {entry.series.length === 1 && <Classes series={entry.series[0] as Series} scene={scene} />}
          </div>
        </li>
      ))}
    </ul>
  );
}

/** What marks of errors mean. */
export function ErrorKey() {
  return (
    <ul class="key errors" aria-label="Marks of errors">
      {[...ERRORS, ...STEP_ERRORS].map((entry) => (
        <li key={entry.label}>
          <Sample entry={entry} />
          <span>
            {entry.label}: <span class="muted">{entry.text}</span>
          </span>
        </li>
      ))}
    </ul>
  );
}

function Sample({ entry }: { entry: Entry }) {
  return (
    <svg class="picture swatch" viewBox="0 0 34 18" aria-hidden="true">
      <Swatch mark={entry.mark} label={entry.label} />
    </svg>
  );
}

function Meaning({ entry: { label, text } }: { entry: Entry }) {
  return text ? (
    <p>
      <b>{label}</b>
      <span class="description">{text}</span>
    </p>
  ) : null;
}

function currentValue(view: View, series: Series): string {
  const row = view.row(series);
  if (!row || series.stage === "input") {
    return "";
  }
  if (row.length === 1) {
    return valueText(series, row[0]);
  }
  if (series.location === "edge" || row.length > MAX_VALUES) {
    return "";
  }
  return row.map((value) => (series.kind === "scalar" ? short(value) : value < 0 ? "\u00b7" : String(value))).join(" ");
}

/** Colors of the classes of nodes and cells. */
function Classes({ series, scene }: { series: Series; scene: Scene }) {
  const isFilled = series === scene.fill || scene.tables.some((table) => table.category === series);
  if (series.classes.length === 0 || !isFilled || series.kind !== "categorical") {
    return null;
  }
  return (
    <p class="classes">
      {series.classes.map(({ name, glyph }, value) => (
        <span key={value}>
          <svg class="picture class-swatch" viewBox="0 0 12 12" aria-hidden="true">
            <rect class={`${classFill(name, value)} outlined`} x={1} y={1} width={10} height={10} rx={2} />
          </svg>
          {glyph} {name}
        </span>
      ))}
    </p>
  );
}
