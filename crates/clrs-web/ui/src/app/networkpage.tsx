// Networks beside the truth, on a sample of a set.

import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { stepLabel } from "../model/describe.ts";
import { wrongDecisions, wrongText } from "../model/divergence.ts";
import { percent } from "../model/format.ts";
import { byError, errorText, sampleText } from "../model/samples.ts";
import { classes } from "../pictures/marks.tsx";
import { nodeLimit, NumberInput, sampleLimit, seedLimit } from "./controls.tsx";
import { server, type AlgorithmText, type Decisions, type Overview, type ServerInfo } from "./data.ts";
import { HintPlots } from "./hintplots.tsx";
import { useLoaded, useRun, type Run } from "./hooks.ts";
import { ErrorKey } from "./key.tsx";
import { inline } from "./markdown.tsx";
import { SaveMenu } from "./savemenu.tsx";
import { MAX_SEED, type State, type Steps } from "./state.ts";
import type { PageProps } from "./tracepage.tsx";
import { Viewer, type Shown } from "./viewer.tsx";

interface Sample {
  decisions: Decisions;
  other: Decisions | null;
  text: AlgorithmText;
}

export function NetworkPage({ info, state, go, onKey }: PageProps) {
  const { run, sample } = state;
  const otherRun = knownOther(info, state);
  const set = JSON.stringify([run, state.algorithm, state.size, state.seed, state.count, state.steps, state.options]);
  const overview = useLoaded(state.algorithm ? set : null, (signal) => server.network(run, state, signal));
  const loaded = useLoaded(state.algorithm ? JSON.stringify([set, otherRun, sample]) : null, async (signal): Promise<Sample> => {
    // All at once: one that is awaited later and fails before would be an error that nobody handles.
    const [decisions, other, text] = await Promise.all([
      server.decisions(run, state, signal),
      otherRun === null ? null : server.decisions(otherRun, state, signal),
      server.text(state.algorithm),
    ]);
    return { decisions, other, text };
  });
  const main = useRun(loaded.value?.decisions.trace ?? null);
  const second = useRun(loaded.value?.other?.trace ?? null);
  const shown = useMemo(() => toShown(loaded.value, main, second), [loaded.value, main, second]);
  const order = useMemo(() => byError(overview.value?.samples ?? []), [overview.value]);
  useFirstAlgorithm(info, state, go);
  const choose = (to: number) => {
    if (to !== sample) {
      go({ sample: to, frame: 0, otherFrame: null });
    }
  };
  const move = (by: number) => {
    const index = order.findIndex((one) => one.sample === sample) + by;
    const next = order[Math.min(Math.max(index, 0), order.length - 1)];
    if (next) {
      choose(next.sample);
    }
  };
  const keys = (key: string): boolean => {
    if (key === "j" || key === "k") {
      move(key === "j" ? 1 : -1);
      return true;
    }
    return onKey(key);
  };
  const error = loaded.error ?? overview.error;
  return (
    <main class="trace-page" aria-busy={loaded.isLoading || overview.isLoading}>
      <h1 class="visually-hidden">{state.algorithm ? `Networks for ${state.algorithm}` : "Networks"}</h1>
      <NetworkControls info={info} state={state} go={go}>
        {shown.length > 0 && <SaveMenu shown={shown} frame={state.frame} />}
      </NetworkControls>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {loaded.value && <Verdicts sample={loaded.value} runs={[main, second]} show={(frame) => go({ frame })} />}
      {shown.length > 0 ? (
        <Viewer key={state.algorithm} shown={shown} frame={state.frame} otherFrame={null} setFrame={(frame) => go({ frame })} setOtherFrame={() => undefined} onKey={keys}>
          {overview.value && <Side overview={overview.value} order={order} sample={sample} choose={choose} frame={state.frame} steps={main?.truth.steps ?? 0} />}
        </Viewer>
      ) : (
        !error && <p class="loading">{info.runs.length > 0 ? "Evaluating the network" : "Start the server with --run DIR to see the network of a run."}</p>
      )}
    </main>
  );
}

/** A run that was not trained on the algorithm of the address shows the first of its own. */
function useFirstAlgorithm(info: ServerInfo, state: State, go: PageProps["go"]) {
  const own = info.runs[state.run]?.algorithms ?? [];
  const fallback = own.includes(state.algorithm) ? null : (own[0] ?? null);
  useEffect(() => {
    if (fallback) {
      go({ algorithm: fallback, frame: 0, sample: 0 });
    }
  }, [fallback]);
}

function isTrained(info: ServerInfo, run: number, algorithm: string): boolean {
  return info.runs[run]?.algorithms.includes(algorithm) ?? false;
}

/** The run beside, if it is another one and knows the algorithm. */
function knownOther(info: ServerInfo, { run, otherRun, algorithm }: Pick<State, "run" | "otherRun" | "algorithm">): number | null {
  return otherRun !== null && otherRun !== run && isTrained(info, otherRun, algorithm) ? otherRun : null;
}

function toShown(sample: Sample | null, main: Run | null, second: Run | null): Shown[] {
  if (!sample || !main?.prediction) {
    return [];
  }
  const { text, decisions, other } = sample;
  const shown: Shown[] = [
    { title: "Truth", run: main, recording: main.truth, text },
    { title: decisions.run, run: main, recording: main.prediction, text },
  ];
  if (other && second?.prediction) {
    shown.push({ title: other.run, run: second, recording: second.prediction, text });
  }
  return shown;
}

/** Whether the answers are correct, and if not, why; and the first error. */
function Verdicts({ sample, runs, show }: { sample: Sample; runs: (Run | null)[]; show(frame: number): void }) {
  const all = [sample.decisions, ...(sample.other ? [sample.other] : [])];
  return (
    <p class="verdicts">
      <b>sample {sample.decisions.overview.sample}</b>
      {all.map(({ run, overview }, index) => (
        <span key={index} class={overview.valid ? "valid" : "invalid"}>
          <b>{run}</b> {overview.valid ? (overview.exact_match ? "\u2713 correct, the same answer" : "\u2713 correct, another answer") : inline(`\u2715 ${overview.failure}`)}
          <FirstError run={runs[index] ?? null} show={show} />
        </span>
      ))}
    </p>
  );
}

/** Where a network first errs: which hint, at which step and cell, and both values. */
function FirstError({ run, show }: { run: Run | null; show(frame: number): void }) {
  const first = run?.divergence?.first ?? null;
  if (!run?.prediction || first === null) {
    return null;
  }
  const wrong = wrongDecisions(run.prediction, run.truth, first);
  return (
    <button type="button" class="first-error" title="Show it (d)" onClick={() => show(first)}>
      First error: {first < run.prediction.steps ? stepLabel(first, run.truth.steps) : "result"}, {wrong.slice(0, 1).map(wrongText)}
      {wrong.length > 1 && ` (and ${wrong.length - 1} more)`}
    </button>
  );
}

interface SideProps {
  overview: Overview;
  order: Overview["samples"];
  sample: number;
  choose(sample: number): void;
  frame: number;
  /** Steps of the algorithm on the sample. */
  steps: number;
}

function Side({ overview, order, sample, choose, frame, steps }: SideProps) {
  const { metrics } = overview;
  const current = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    const [button, box] = [current.current, current.current?.closest(".below-code")];
    if (button && box) {
      box.scrollTop += scrollBy(button.getBoundingClientRect(), box.getBoundingClientRect());
    }
  }, [sample, order]);
  return (
    <div class="network-side">
      <p class="scores">
        <span>
          score <b>{percent(metrics.score)}</b>
        </span>
        <span>
          correct <b>{percent(metrics.validity)}</b>
        </span>
        <span>
          exact <b>{percent(metrics.exact_match)}</b>
        </span>
        <span class="muted">
          {overview.processor}, best checkpoint: step {overview.step}
        </span>
      </p>
      <HintPlots hints={overview.hints} frame={frame} steps={steps} />
      <ErrorKey />
      <h2>Samples</h2>
      <p class="samples-legend">{"\u2713 or \u2715: the answer; step: the first wrong hint"}</p>
      <ol class="samples">
        {order.map((one) => (
          <li key={one.sample}>
            <button type="button" class={classes(one.valid ? "valid" : "invalid")} aria-current={one.sample === sample} onClick={() => choose(one.sample)}
              title={sampleText(one)} ref={one.sample === sample ? current : null}>
              <b>{one.sample}</b> {one.valid ? "\u2713" : "\u2715"} <span>{errorText(one)}</span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

/** How far a box has to scroll until it shows all of something in it. */
export function scrollBy(item: { top: number; bottom: number }, box: { top: number; bottom: number }): number {
  return item.top < box.top ? item.top - box.top : Math.max(item.bottom - box.bottom, 0);
}

const STEPS: [Steps, string][] = [
  ["oracle", "as the algorithm"],
  ["max", "the maximum"],
  ["fixpoint", "until nothing changes"],
];

function NetworkControls({ info, state, go, children }: Pick<PageProps, "info" | "state" | "go"> & { children: preact.ComponentChildren }) {
  const restart = { frame: 0, sample: 0 };
  const all = info.runs.map(({ name }, index) => ({ name, index }));
  const others = all.filter(({ index }) => index !== state.run && isTrained(info, index, state.algorithm));
  const runs = (list: typeof all, none: string | null, value: number | null, change: (run: number | null) => void) => (
    <select value={value ?? ""} onChange={(event) => change(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}>
      {none !== null && <option value="">{none}</option>}
      {list.map(({ name, index }) => (
        <option key={index} value={index}>
          {name}
        </option>
      ))}
    </select>
  );
  // The algorithm stays if the run knows it, and the run beside it if it knows the algorithm.
  const show = (run: number, wanted: string) => {
    const algorithm = isTrained(info, run, wanted) ? wanted : (info.runs[run]?.algorithms[0] ?? "");
    const otherRun = knownOther(info, { run, otherRun: state.otherRun, algorithm });
    go({ run, algorithm, otherRun, ...(algorithm === state.algorithm ? {} : { options: {} }), ...restart });
  };
  return (
    <div class="controls">
      <label>
        <span>run</span>
        {runs(all, null, state.run, (run) => show(run ?? 0, state.algorithm))}
      </label>
      <label class="algorithm">
        <span class="visually-hidden">Algorithm</span>
        <select value={state.algorithm} onChange={(event) => show(state.run, event.currentTarget.value)}>
          {(info.runs[state.run]?.algorithms ?? []).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>size</span>
        <NumberInput value={state.size} min={2} max={64} limit={nodeLimit} change={(size) => go({ size, ...restart })} />
      </label>
      <label>
        <span>seed</span>
        <NumberInput value={state.seed} min={0} max={MAX_SEED} limit={seedLimit} change={(seed) => go({ seed, ...restart })} />
      </label>
      <label>
        <span>samples</span>
        <NumberInput value={state.count} min={1} max={128} limit={sampleLimit} change={(count) => go({ count, ...restart })} />
      </label>
      <label>
        <span>steps</span>
        <select value={state.steps} onChange={(event) => go({ steps: event.currentTarget.value as Steps, frame: 0 })}>
          {STEPS.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {others.length > 0 && (
        <label>
          <span>beside</span>
          {runs(others, "no other run", knownOther(info, state), (otherRun) => go({ otherRun }))}
        </label>
      )}
      <span class="spacer" />
      {children}
    </div>
  );
}
