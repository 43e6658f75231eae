// What the page shows, and its address. The fragment of the address has everything, so that a link or a bookmark restores a view;
// the server never sees it.

import type { Problem } from "../model/trace.ts";

export type Steps = "oracle" | "max" | "fixpoint";

export interface State {
  page: "gallery" | "trace" | "network" | "training";
  algorithm: string;
  size: number;
  seed: number;
  /** Options of the distribution that differ from their defaults. */
  options: Record<string, string>;
  /** A problem that was edited by hand instead of a sampled one. */
  problem: Problem | null;
  frame: number;
  /** A second algorithm on the same problem. */
  compare: string | null;
  /** Frame of the second picture, if the two do not step together. */
  otherFrame: number | null;
  /** Index of the run whose network is shown, and of the one it is compared with. */
  run: number;
  otherRun: number | null;
  /** Index of the sample in its set, which has `count` samples. */
  sample: number;
  count: number;
  /** When the network stops. */
  steps: Steps;
}

export const DEFAULTS: State = {
  page: "gallery",
  algorithm: "",
  size: 16,
  seed: 1,
  options: {},
  problem: null,
  frame: 0,
  compare: null,
  otherFrame: null,
  run: 0,
  otherRun: null,
  sample: 0,
  count: 32,
  steps: "oracle",
};

/** The largest seed that samplers accept. */
export const MAX_SEED = 4294967295;

const STEPS: Steps[] = ["oracle", "max", "fixpoint"];

export function formatState(state: State): string {
  const query = new URLSearchParams();
  const put = (name: string, value: number | string | null, other: number | string | null) => {
    if (value !== null && value !== other) {
      query.set(name, String(value));
    }
  };
  if (state.page === "gallery" || state.page === "training") {
    return state.page === "gallery" ? "#/" : "#/training";
  }
  const sampled = state.problem === null;
  put("n", sampled ? state.size : null, DEFAULTS.size);
  put("seed", sampled ? state.seed : null, DEFAULTS.seed);
  for (const [name, value] of Object.entries(state.options)) {
    put(`o.${name}`, sampled ? value : null, "");
  }
  if (state.page === "network") {
    put("run", state.run, 0);
    put("with", state.otherRun, null);
    put("sample", state.sample, 0);
    put("count", state.count, DEFAULTS.count);
    put("steps", state.steps, "oracle");
  }
  put("vs", state.compare, null);
  put("t", state.frame, 0);
  put("u", state.otherFrame, null);
  if (state.problem) {
    query.set("problem", JSON.stringify(state.problem));
  }
  const text = query.toString();
  return `#/${state.page === "network" ? "network/" : ""}${encodeURIComponent(state.algorithm)}${text ? `?${text}` : ""}`;
}

/** Reads an address. What it does not understand has its default. */
export function parseState(hash: string): State {
  const [path = "", text = ""] = hash.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const query = new URLSearchParams(text);
  const parts = path.split("/").map(decode);
  if (parts[0] === "") {
    return DEFAULTS;
  }
  if (parts[0] === "training") {
    return { ...DEFAULTS, page: "training" };
  }
  const isNetwork = parts[0] === "network";
  const integer = (name: string, other: number) => natural(query.get(name)) ?? other;
  const steps = query.get("steps") as Steps;
  return {
    page: isNetwork ? "network" : "trace",
    algorithm: (isNetwork ? parts[1] : parts[0]) ?? "",
    size: integer("n", DEFAULTS.size),
    seed: integer("seed", DEFAULTS.seed),
    options: Object.fromEntries([...query].filter(([name]) => name.startsWith("o.")).map(([name, value]) => [name.slice(2), value])),
    problem: parseProblem(query.get("problem")),
    frame: integer("t", 0),
    compare: query.get("vs"),
    otherFrame: natural(query.get("u")),
    run: integer("run", 0),
    otherRun: natural(query.get("with")),
    sample: integer("sample", 0),
    count: integer("count", DEFAULTS.count),
    steps: STEPS.includes(steps) ? steps : "oracle",
  };
}

/** An integer up to the largest seed. */
function natural(text: string | null): number | null {
  return text !== null && /^\d{1,10}$/.test(text) && Number(text) <= MAX_SEED ? Number(text) : null;
}

/** The seed of the next problem. After the largest one comes 0. */
export function followingSeed(seed: number): number {
  return seed < MAX_SEED ? seed + 1 : 0;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parseProblem(text: string | null): Problem | null {
  try {
    const value: unknown = text ? JSON.parse(text) : null;
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Problem) : null;
  } catch {
    return null;
  }
}
