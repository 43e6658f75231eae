// Networks beside the truth, on a sample of a set.

import { useEffect, useMemo } from "preact/hooks";
import { percent } from "../model/format.ts";
import { byError, errorText } from "../model/samples.ts";
import { classes } from "../pictures/marks.tsx";
import { NumberInput } from "./controls.tsx";
import { server, type AlgorithmText, type Decisions, type Overview, type ServerInfo } from "./data.ts";
import { HintPlots } from "./hintplots.tsx";
import { useLoaded, useRun, type Run } from "./hooks.ts";
import { SaveMenu } from "./savemenu.tsx";
import type { State, Steps } from "./state.ts";
import type { PageProps } from "./tracepage.tsx";
import { Viewer, type Shown } from "./viewer.tsx";

interface Sample {
  decisions: Decisions;
  other: Decisions | null;
  text: AlgorithmText;
}

export function NetworkPage({ info, state, go, onKey }: PageProps) {
  const { run, otherRun, sample } = state;
  const set = JSON.stringify([run, state.algorithm, state.size, state.seed, state.count, state.steps, state.options]);
  const overview = useLoaded(state.algorithm ? set : null, (signal) => server.network(run, state, signal));
  const loaded = useLoaded(state.algorithm ? JSON.stringify([set, otherRun, sample]) : null, async (signal): Promise<Sample> => {
    const other = otherRun === null ? null : server.decisions(otherRun, state, signal);
    const [decisions, text] = await Promise.all([server.decisions(run, state, signal), server.text(state.algorithm)]);
    return { decisions, text, other: await other };
  });
  const main = useRun(loaded.value?.decisions.trace ?? null);
  const second = useRun(loaded.value?.other?.trace ?? null);
  const shown = useMemo(() => toShown(loaded.value, main, second), [loaded.value, main, second]);
  const order = useMemo(() => byError(overview.value?.samples ?? []), [overview.value]);
  useFirstAlgorithm(info, state, go);
  const choose = (sample: number) => go({ sample, frame: 0, otherFrame: null });
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
      <NetworkControls info={info} state={state} go={go}>
        {shown.length > 0 && <SaveMenu shown={shown} frame={state.frame} />}
      </NetworkControls>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {loaded.value && <Verdicts sample={loaded.value} />}
      {shown.length > 0 ? (
        <Viewer key={state.algorithm} shown={shown} frame={state.frame} otherFrame={null} setFrame={(frame) => go({ frame })} setOtherFrame={() => undefined} onKey={keys}>
          {overview.value && <Side overview={overview.value} order={order} sample={sample} choose={choose} frame={state.frame} />}
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

/** Whether the answers are correct, and if not, why. */
function Verdicts({ sample }: { sample: Sample }) {
  const all = [sample.decisions, ...(sample.other ? [sample.other] : [])];
  return (
    <p class="verdicts">
      {all.map(({ run, overview }, index) => (
        <span key={index} class={overview.valid ? "valid" : "invalid"}>
          <b>{run}</b> {overview.valid ? (overview.exact_match ? "\u2713 correct, the same answer" : "\u2713 correct, another answer") : `\u2715 ${overview.failure}`}
          {overview.first_error !== null && <> (first error: {errorText(overview)})</>}
        </span>
      ))}
    </p>
  );
}

interface SideProps {
  overview: Overview;
  order: Overview["samples"];
  sample: number;
  choose(sample: number): void;
  frame: number;
}

function Side({ overview, order, sample, choose, frame }: SideProps) {
  const { metrics } = overview;
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
          {overview.processor}, {overview.step} training steps
        </span>
      </p>
      <HintPlots hints={overview.hints} frame={frame} />
      <h3>Samples</h3>
      <ol class="samples">
        {order.map((one) => (
          <li key={one.sample}>
            <button type="button" class={classes(one.valid ? "valid" : "invalid")} aria-current={one.sample === sample} onClick={() => choose(one.sample)}
              title={one.failure ?? "a correct answer"}>
              <b>{one.sample}</b> {one.valid ? "\u2713" : "\u2715"} <span>{errorText(one)}</span>
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}

const STEPS: [Steps, string][] = [
  ["oracle", "as the algorithm"],
  ["max", "the maximum"],
  ["fixpoint", "until nothing changes"],
];

function NetworkControls({ info, state, go, children }: Pick<PageProps, "info" | "state" | "go"> & { children: preact.ComponentChildren }) {
  const restart = { frame: 0, sample: 0 };
  const runs = (none: string | null, value: number | null, change: (run: number | null) => void) => (
    <select value={value ?? ""} onChange={(event) => change(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}>
      {none !== null && <option value="">{none}</option>}
      {info.runs.map(({ name }, index) => (
        <option key={index} value={index}>
          {name}
        </option>
      ))}
    </select>
  );
  return (
    <div class="controls">
      <label>
        <span>run</span>
        {runs(null, state.run, (run) => go({ run: run ?? 0, ...restart }))}
      </label>
      <label class="algorithm">
        <span class="visually-hidden">Algorithm</span>
        <select value={state.algorithm} onChange={(event) => go({ algorithm: event.currentTarget.value, options: {}, ...restart })}>
          {(info.runs[state.run]?.algorithms ?? []).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>size</span>
        <NumberInput value={state.size} min={2} max={64} change={(size) => go({ size, ...restart })} />
      </label>
      <label>
        <span>seed</span>
        <NumberInput value={state.seed} min={0} max={4294967295} change={(seed) => go({ seed, ...restart })} />
      </label>
      <label>
        <span>samples</span>
        <NumberInput value={state.count} min={1} max={128} change={(count) => go({ count, ...restart })} />
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
      {info.runs.length > 1 && (
        <label>
          <span>beside</span>
          {runs("no other run", state.otherRun, (otherRun) => go({ otherRun }))}
        </label>
      )}
      <span class="spacer" />
      {children}
    </div>
  );
}
