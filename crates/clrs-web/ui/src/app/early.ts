// Requests for what the first view shows, sent by a script at the top of the page while the rest of it is still being read.

import { INFO, samplePath, textPath } from "./paths.ts";
import type { State } from "./state.ts";

/** The answer to a request. `body` is null if it is no JSON, `status` 0 if there was no answer. */
export interface Answer {
  status: number;
  body: unknown;
}

declare global {
  interface Window {
    /** Answers by path, each for one use. Pages that were saved have none. */
    prefetched?: Map<string, Promise<Answer>>;
  }
}

/** Sends the requests of a view. */
export function prefetch(state: State) {
  const paths = [INFO, ...(state.page === "trace" && !state.problem ? [samplePath(state.algorithm, state), textPath(state.algorithm)] : [])];
  window.prefetched = new Map(paths.map((path) => [path, send(path, {})]));
}

/** The answer to a request. Only requests that were aborted fail. */
export async function send(path: string, init: RequestInit): Promise<Answer> {
  try {
    const response = await fetch(path, init);
    return { status: response.status, body: await response.json().catch(() => null) };
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") {
      throw error;
    }
    return { status: 0, body: null };
  }
}

/** The answer to a request that was prefetched, once. */
export function takePrefetched(path: string): Promise<Answer> | undefined {
  const answer = window.prefetched?.get(path);
  window.prefetched?.delete(path);
  return answer;
}
