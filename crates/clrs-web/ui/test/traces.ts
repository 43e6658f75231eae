// Traces of every algorithm, which `cargo xtask ui` writes before the tests.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { recorded, type Recording } from "../src/model/recording.ts";
import { buildScene, type Scene } from "../src/model/scene.ts";
import type { PredictionJson, TraceJson } from "../src/model/trace.ts";

const folder = process.env.CLRS_TRACES;
if (!folder) {
  throw new Error("CLRS_TRACES must be a folder that `cargo run -p clrs-web --example traces FOLDER` wrote");
}

export const names: string[] = readdirSync(folder).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));

export function load(name: string): TraceJson {
  return JSON.parse(readFileSync(join(folder as string, `${name}.json`), "utf8")) as TraceJson;
}

export function open(name: string): { trace: TraceJson; recording: Recording; scene: Scene } {
  const trace = load(name);
  const recording = recorded(trace);
  return { trace, recording, scene: buildScene(recording, trace.problem) };
}

/** A trace of three nodes with the given probes. */
export function tiny(probes: Partial<PredictionJson>[], steps = 2): TraceJson {
  const defaults = { stage: "hint", location: "node", kind: "scalar", description: "" } as const;
  return {
    algorithm: "tiny",
    problem: {},
    nodes: 3,
    steps,
    probes: probes.map((probe) => ({ ...defaults, name: "x", values: [], ...probe })),
    step_locations: [],
  };
}
