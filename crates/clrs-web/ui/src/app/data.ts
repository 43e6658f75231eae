// Where traces come from: the server, or the document itself if it is a saved page.

import type { Problem, TraceJson } from "../model/trace.ts";
import { send, takePrefetched } from "./early.ts";
import { INFO, networkPath, samplePath, textPath, TRACE, TRAINING, type Sampled } from "./paths.ts";
import type { State } from "./state.ts";

export interface OptionInfo {
  name: string;
  value: string;
  description: string;
}

/** An algorithm in the list of all. */
export interface AlgorithmInfo {
  algorithm: string;
  title: string;
  family: string;
  /** The first sentence of its documentation. */
  summary: string;
  options: OptionInfo[];
  /** Fields of its problems that are lists, matrices or texts. */
  fields: string[];
}

/** The text of an algorithm. */
export interface AlgorithmText {
  algorithm: string;
  title: string;
  /** Null for an algorithm of another crate. */
  family: string | null;
  /** Markdown. */
  documentation: string;
  source: string;
  /** Number of the first line of `source` in its file. */
  first_line: number;
}

export interface Preset {
  title: string;
  algorithm: string;
  problem: Problem;
}

export interface ServerInfo {
  version: string;
  algorithms: AlgorithmInfo[];
  presets: Preset[];
  max_size: number;
  /** Runs whose networks are shown. */
  runs: RunInfo[];
}

export interface RunInfo {
  name: string;
  /** Algorithms that it was trained on. */
  algorithms: string[];
}

/** A network on a set. */
export interface Overview {
  run: string;
  step: number;
  processor: string;
  metrics: { score: number; validity: number; exact_match: number };
  mean_steps: number;
  hints: { name: string; score: number | null; per_step: number[] }[];
  samples: SampleOverview[];
}

/** A network on a sample. */
export interface SampleOverview {
  sample: number;
  steps: number;
  /** First step with a wrong decision; the number of steps if only the answer differs. */
  first_error: number | null;
  valid: boolean;
  failure: string | null;
  exact_match: boolean;
}

export interface Decisions {
  run: string;
  trace: TraceJson;
  overview: SampleOverview;
}

/** A run as it trains. */
export interface TrainingRun {
  name: string;
  algorithms: string[];
  processor: string;
  status: { status: "running" | "stopped" | "done" | "failed"; step: number; steps: number; best: { step: number; score: number } | null; error?: string } | null;
  losses: { algorithm: string; points: [number, number][] }[];
  validations: { algorithm: string; points: { step: number; score: number; validity: number | null }[] }[];
  error: string | null;
}

/** A trace with the text of its algorithm: all that a picture needs. */
export interface TraceDocument {
  trace: TraceJson;
  text: AlgorithmText;
}

/** The contents of a saved page. */
export interface Saved {
  documents: TraceDocument[];
  frame: number;
}

/** The contents of this page, if it is a saved one. */
export function readSaved(): Saved | null {
  const text = document.getElementById("trace-data")?.textContent?.trim();
  return text ? (JSON.parse(text) as Saved) : null;
}

export class RequestError extends Error {}

const texts = new Map<string, Promise<AlgorithmText>>();

export const server = {
  info: (): Promise<ServerInfo> => request(INFO),

  text(algorithm: string): Promise<AlgorithmText> {
    let text = texts.get(algorithm);
    if (!text) {
      text = request<AlgorithmText>(textPath(algorithm));
      texts.set(algorithm, text);
      text.catch(() => texts.delete(algorithm));
    }
    return text;
  },

  /** Runs an algorithm on a sampled problem. */
  sample(algorithm: string, of: Sampled, signal?: AbortSignal): Promise<TraceJson> {
    return request(samplePath(algorithm, of), signal);
  },

  /** Runs an algorithm on a given problem. */
  run(algorithm: string, problem: Problem, signal?: AbortSignal): Promise<TraceJson> {
    const body = JSON.stringify({ algorithm, problem });
    return request(TRACE, signal, { method: "POST", headers: { "content-type": "application/json" }, body });
  },

  /** A network on a set. */
  network(run: number, state: State, signal?: AbortSignal): Promise<Overview> {
    return request(networkPath(run, state), signal);
  },

  /** All decisions of a network on one sample of the set. */
  decisions(run: number, state: State, signal?: AbortSignal): Promise<Decisions> {
    return request(networkPath(run, state, state.sample), signal);
  },

  training: (signal?: AbortSignal): Promise<TrainingRun[]> => request(TRAINING, signal),
};

async function request<T>(path: string, signal?: AbortSignal, init: RequestInit = {}): Promise<T> {
  const { status, body } = await ((init.method ? undefined : takePrefetched(path)) ?? send(path, signal ? { ...init, signal } : init));
  if (status === 0) {
    throw new RequestError("the server does not answer; is `clrs serve` still running?");
  }
  if (status !== 200) {
    const message = typeof body === "object" && body !== null && "error" in body ? String(body.error) : `the server answered ${status}`;
    throw new RequestError(message);
  }
  return body as T;
}
