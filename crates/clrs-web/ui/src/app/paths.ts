// Paths of the server's API.

import type { State } from "./state.ts";

export const INFO = "/api/info";
export const TRAINING = "/api/training";
export const TRACE = "/api/trace";

/** What a sampled problem depends on. */
export type Sampled = Pick<State, "size" | "seed" | "options">;

/** The documentation and the source of an algorithm. */
export function textPath(algorithm: string): string {
  return `/api/algorithms/${encodeURIComponent(algorithm)}`;
}

/** The run of an algorithm on a sampled problem. */
export function samplePath(algorithm: string, of: Sampled): string {
  return `${TRACE}?${sampleQuery(algorithm, of)}`;
}

/** A network on a set; with a sample, all of its decisions on that. */
export function networkPath(run: number, state: State, sample?: number): string {
  const query = sampleQuery(state.algorithm, state);
  query.set("run", String(run));
  query.set("count", String(state.count));
  query.set("steps", state.steps);
  return sample === undefined ? `/api/network?${query}` : `/api/network/sample?${query}&sample=${sample}`;
}

function sampleQuery(algorithm: string, of: Sampled): URLSearchParams {
  const query = new URLSearchParams({ algorithm, size: String(of.size), seed: String(of.seed) });
  for (const [name, value] of Object.entries(of.options)) {
    query.append("set", `${name}=${value}`);
  }
  return query;
}
