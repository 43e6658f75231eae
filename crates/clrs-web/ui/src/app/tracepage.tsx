// An algorithm, or two on the same problem.

import { useMemo, useRef, useState } from "preact/hooks";
import { adapt } from "../model/problem.ts";
import type { TraceJson } from "../model/trace.ts";
import { Controls } from "./controls.tsx";
import { server, type AlgorithmText, type ServerInfo } from "./data.ts";
import { Editor } from "./editor.tsx";
import { useLoaded, useRun, type Run } from "./hooks.ts";
import { SaveMenu } from "./savemenu.tsx";
import { followingSeed, type State } from "./state.ts";
import { Viewer, type Shown } from "./viewer.tsx";

export interface PageProps {
  info: ServerInfo;
  state: State;
  go(change: Partial<State>): void;
  onKey(key: string): boolean;
}

interface Loaded {
  trace: TraceJson;
  text: AlgorithmText;
  other: { trace: TraceJson; text: AlgorithmText } | null;
}

export function TracePage({ info, state, go, onKey }: PageProps) {
  const [isEditing, setEditing] = useState(false);
  const { algorithm, size, seed, options, problem, compare } = state;
  const key = JSON.stringify([algorithm, problem ?? [size, seed, options], compare]);
  const loaded = useLoaded(key, async (signal): Promise<Loaded> => {
    const trace = problem ? server.run(algorithm, problem, signal) : server.sample(algorithm, state, signal);
    const [main, text] = await Promise.all([trace, server.text(algorithm)]);
    return { trace: main, text, other: compare ? await loadOther(compare, main, state, signal) : null };
  });
  const run = useRun(loaded.value?.trace ?? null);
  const otherRun = useRun(loaded.value?.other?.trace ?? null);
  const shown = useMemo(() => toShown(loaded.value, run, otherRun), [loaded.value, run, otherRun]);
  const of = info.algorithms.find((one) => one.algorithm === algorithm);
  const editButton = useRef<HTMLButtonElement>(null);
  const closeEditor = () => {
    setEditing(false);
    editButton.current?.focus();
  };
  const nextSeed = () => go({ seed: followingSeed(seed), problem: null, frame: 0, otherFrame: null });
  const keys = (key: string): boolean => {
    if (key === "r") {
      nextSeed();
    } else if (key === "Escape" && isEditing) {
      closeEditor();
    } else {
      return onKey(key);
    }
    return true;
  };
  return (
    <main class="trace-page" aria-busy={loaded.isLoading}>
      <h1 class="visually-hidden">{of?.title ?? algorithm}</h1>
      <Controls info={info} state={state} size={problem ? (loaded.value?.trace.nodes ?? size) : size} options={of?.options ?? []} go={go} nextSeed={nextSeed} isEditing={isEditing} edit={() => setEditing(!isEditing)} editButton={editButton}>
        {shown.length > 0 && <SaveMenu shown={shown} frame={state.frame} />}
      </Controls>
      {loaded.error && !isEditing && (
        <p class="error" role="alert">
          {loaded.error}
        </p>
      )}
      <div class={isEditing ? "with-editor" : "without-editor"}>
        {isEditing && loaded.value && (
          <Editor key={JSON.stringify(loaded.value.trace.problem)} problem={loaded.value.trace.problem} error={loaded.error} isBusy={loaded.isLoading}
            apply={(problem) => go({ problem, frame: 0, otherFrame: null })} close={closeEditor} />
        )}
        {shown.length > 0 ? (
          <Viewer key={algorithm} shown={shown} frame={state.frame} otherFrame={state.otherFrame} setFrame={(frame) => go({ frame })}
            setOtherFrame={(otherFrame) => go({ otherFrame })} onKey={keys} />
        ) : (
          !loaded.error && <p class="loading">Loading {algorithm}</p>
        )}
      </div>
    </main>
  );
}

/** The other algorithm on the problem of the first, as far as it has the same parts. */
async function loadOther(algorithm: string, main: TraceJson, state: State, signal: AbortSignal) {
  const template = await server.sample(algorithm, { size: main.nodes, seed: state.seed, options: {} }, signal);
  const problem = adapt(main.problem, template.problem);
  if (!problem) {
    throw new Error(`${algorithm} has another kind of problem than ${main.algorithm}`);
  }
  const [trace, text] = await Promise.all([server.run(algorithm, problem, signal), server.text(algorithm)]);
  return { trace, text };
}

function toShown(loaded: Loaded | null, run: Run | null, otherRun: Run | null): Shown[] {
  if (!loaded || !run) {
    return [];
  }
  const shown: Shown[] = [{ title: loaded.text.title, run, recording: run.truth, text: loaded.text }];
  if (loaded.other && otherRun) {
    shown.push({ title: loaded.other.text.title, run: otherRun, recording: otherRun.truth, text: loaded.other.text });
  }
  return shown;
}
