// A run as series over frames.
//
// Frame f < steps is the state after step f. The last frame, number `steps`, is the result: hints that are the running value of an
// output (`pi_h` of `pi`) are replaced by it, and outputs without such a hint appear.

import { decodeProbe, type ClassName, type KindName, type Location, type Probe, type Row, type TraceJson } from "./trace.ts";

/** What is drawn as one thing: an input, a hint, an output, or a hint with the output it becomes. */
export interface Series {
  /** Name of the first probe. Unique. */
  name: string;
  probes: Probe[];
  stage: "input" | "hint" | "output";
  location: Location;
  kind: KindName;
  classes: ClassName[];
  description: string;
  /** Whether it ends in an output. */
  isResult: boolean;
  /** The row of a frame; null while there is none. */
  at(frame: number): Row | null;
  /** All distinct rows, by time. */
  rows: Row[];
}

export interface Recording {
  nodes: number;
  steps: number;
  /** `steps + 1`: one per step, and the result. */
  frames: number;
  series: Series[];
  get(name: string): Series | undefined;
}

/** The recorded run of a trace. */
export function recorded(trace: TraceJson): Recording {
  return recording(trace.nodes, trace.steps, trace.probes.map(decodeProbe));
}

/** The run that a network predicted; null if the trace has no predictions. */
export function predicted(trace: TraceJson): Recording | null {
  if (!trace.predictions) {
    return null;
  }
  const inputs = trace.probes.filter((probe) => probe.stage === "input");
  const probes = [...inputs, ...trace.predictions].map(decodeProbe);
  const steps = Math.max(1, ...probes.filter((probe) => probe.stage === "hint").map((probe) => probe.rows.length));
  return recording(trace.nodes, steps, probes);
}

function recording(nodes: number, steps: number, probes: Probe[]): Recording {
  const outputs = new Map(probes.filter((probe) => probe.stage === "output").map((probe) => [probe.name, probe]));
  const series: Series[] = [];
  for (const probe of probes) {
    if (probe.stage === "output") {
      continue;
    }
    const output = probe.stage === "hint" ? outputOf(probe, outputs) : undefined;
    if (output) {
      outputs.delete(output.name);
    }
    series.push(oneSeries(output ? [probe, output] : [probe], steps));
  }
  series.push(...[...outputs.values()].map((output) => oneSeries([output], steps)));
  const byName = new Map(series.map((one) => [one.name, one]));
  return { nodes, steps, frames: steps + 1, series, get: (name) => byName.get(name) };
}

/** The output that a hint is the running value of: `pi_h` of `pi`, if their cells are of the same type. */
function outputOf(hint: Probe, outputs: Map<string, Probe>): Probe | undefined {
  const output = hint.name.endsWith("_h") ? outputs.get(hint.name.slice(0, -2)) : undefined;
  const plain = (kind: KindName) => (kind === "permutation" || kind === "cyclic_permutation" ? "pointer" : kind);
  const same = output && output.location === hint.location && plain(output.kind) === plain(hint.kind);
  return same ? output : undefined;
}

function oneSeries(probes: Probe[], steps: number): Series {
  const [first, last] = [probes[0] as Probe, probes[probes.length - 1] as Probe];
  const isResult = last.stage === "output";
  const at = (frame: number): Row | null => {
    if (first.stage === "input" || (frame >= steps && isResult)) {
      return last.rows[0] ?? null;
    }
    return first.stage === "hint" ? (first.rows[Math.min(frame, first.rows.length - 1)] ?? null) : null;
  };
  return {
    name: first.name,
    probes,
    stage: first.stage,
    location: first.location,
    kind: first.kind,
    classes: first.classes.length ? first.classes : last.classes,
    description: first.description,
    isResult,
    at,
    rows: probes.flatMap((probe) => probe.rows),
  };
}

/** The node of a one-hot mask, or the value of a probe of the graph; null while there is none. */
export function single(series: Series | null, frame: number): number | null {
  return series?.at(frame)?.[0] ?? null;
}
