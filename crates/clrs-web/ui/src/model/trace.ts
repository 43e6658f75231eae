// The JSON of a trace (docs/json.md, `clrs trace --json`), as the server, a saved page and a notebook provide it.

export type Stage = "input" | "output" | "hint";
export type Location = "node" | "edge" | "graph";
export type KindName = "scalar" | "mask" | "mask_one" | "categorical" | "pointer" | "permutation" | "cyclic_permutation";
export type KindJson = Exclude<KindName, "categorical"> | { categorical: { classes: number } };

/** One row of a probe. NaN and infinities are null in JSON. */
export type RowJson = (number | null)[];

export interface ProbeJson {
  name: string;
  stage: Stage;
  location: Location;
  kind: KindJson;
  description: string;
  /** One row for inputs and outputs, one row per step for hints. */
  values: RowJson | RowJson[];
}

export interface PredictionJson extends ProbeJson {
  /** For each row, the probability of each value of each cell; an empty row was given, not predicted. */
  probabilities?: number[][];
}

export interface SourceLine {
  file: string;
  line: number;
}

/** A problem: a JSON object whose fields depend on the algorithm. */
export type Problem = Record<string, unknown>;

export interface TraceJson {
  algorithm: string;
  problem: Problem;
  nodes: number;
  steps: number;
  probes: ProbeJson[];
  step_locations: SourceLine[];
  predictions?: PredictionJson[];
}

export type Row = readonly number[];

/** A probe with its values as numbers. */
export interface Probe {
  name: string;
  stage: Stage;
  location: Location;
  kind: KindName;
  /** Names of the values of masks and categoricals, from the description; empty if it names none. */
  classes: ClassName[];
  description: string;
  rows: Row[];
  /** Probabilities of predicted rows; see `PredictionJson`. */
  probabilities?: number[][];
}

/** Name of a class: `2 black (finished)` is "black (finished)". A name that starts with a symbol has it as its glyph. */
export interface ClassName {
  name: string;
  glyph: string;
}

export function decodeProbe(json: PredictionJson | ProbeJson): Probe {
  const kind = typeof json.kind === "string" ? json.kind : "categorical";
  const count = typeof json.kind === "string" ? 2 : json.kind.categorical.classes;
  const isClass = kind === "categorical" || kind === "mask";
  const probe: Probe = {
    name: json.name,
    stage: json.stage,
    location: json.location,
    kind,
    classes: isClass ? classNames(json.description, count) : [],
    description: json.description,
    rows: isRows(json.values) ? json.values.map(numbers) : [numbers(json.values)],
  };
  if ("probabilities" in json && json.probabilities) {
    probe.probabilities = json.probabilities;
  }
  return probe;
}

function isRows(values: RowJson | RowJson[]): values is RowJson[] {
  return Array.isArray(values[0]);
}

function numbers(row: RowJson): Row {
  return row.map((x) => x ?? NaN);
}

/**
 * The names of classes in a description such as "0 white (undiscovered), 1 gray (on the stack), 2 black (finished)". A number
 * that is not the next class belongs to the text.
 */
export function classNames(description: string, count: number): ClassName[] {
  const names: string[] = [];
  let rest = description;
  while (names.length < count) {
    const start = new RegExp(`(?:^|[,:;] )${names.length} `).exec(rest);
    if (!start || (names.length > 0 && start.index < 0)) {
      break;
    }
    if (names.length > 0) {
      names[names.length - 1] = rest.slice(0, start.index);
    }
    rest = rest.slice(start.index + start[0].length);
    names.push(rest);
  }
  // A single number is no list of classes.
  return names.length < 2 ? [] : names.map(className);
}

function className(code: string): ClassName {
  // Names of other probes are marked as code.
  const text = code.replaceAll("`", "");
  const symbol = /^([^\p{L}\p{N}\s]) /u.exec(text);
  return symbol?.[1] ? { name: text.slice(2), glyph: symbol[1] } : { name: text, glyph: "" };
}
