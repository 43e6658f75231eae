// Curves of runs while they train.

import { useEffect, useState } from "preact/hooks";
import { linePath, niceStep, powers, spread, ticks } from "../layout/chart.ts";
import { long, percent, short } from "../model/format.ts";
import { server, type TrainingRun } from "./data.ts";
import { useKeys } from "./hooks.ts";

/** Milliseconds between two looks at the runs. */
const PERIOD = 2000;
const COLORS = ["blue", "red", "green", "purple", "brown", "teal", "pink", "olive"];
/** Patterns of lines: colors alone do not tell them apart. */
const DASHES = ["", "6 3", "2 2", "8 3 2 3"];

export function TrainingPage({ onKey }: { onKey(key: string): boolean }) {
  useKeys((event) => onKey(event.key));
  const { runs, error } = useTraining();
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const visible = (runs ?? []).map((run, index) => ({ run, index })).filter(({ run }) => !hidden.has(run.name));
  const toggle = (name: string) => setHidden((old) => new Set(old.has(name) ? [...old].filter((one) => one !== name) : [...old, name]));
  const curves = <P,>(of: (run: TrainingRun) => { algorithm: string; points: P[] }[], point: (point: P) => [number, number]): Curve[] =>
    visible.flatMap(({ run, index }) => of(run).map((curve, k) => ({ label: `${run.name} ${curve.algorithm}`, index, pattern: k, points: curve.points.map(point) })));
  return (
    <main class="training">
      <h1>Training</h1>
      {error && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {runs?.length === 0 && <p class="muted">Start the server with --run DIR to see the runs in a directory.</p>}
      {runs && runs.length > 0 && (
        <>
          <div class="charts">
            <Chart title="Validation score" curves={curves((run) => run.validations, ({ step, score }) => [step, score])} scale="fraction" />
            <Chart title="Training loss" curves={curves((run) => run.losses, (point) => point)} scale="log" />
          </div>
          <RunTable runs={runs} hidden={hidden} toggle={toggle} />
        </>
      )}
    </main>
  );
}

/** Asks for the runs again and again while the page is visible and any of them trains. */
function useTraining(): { runs: TrainingRun[] | null; error: string | null } {
  const [state, setState] = useState<{ runs: TrainingRun[] | null; error: string | null }>({ runs: null, error: null });
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const look = async () => {
      let isActive = true;
      if (!document.hidden) {
        try {
          const runs = await server.training(abort.signal);
          setState({ runs, error: null });
          isActive = runs.some(({ status }) => !status || status.status === "running" || status.status === "stopped");
        } catch (error) {
          if (abort.signal.aborted) {
            return;
          }
          setState((old) => ({ ...old, error: error instanceof Error ? error.message : String(error) }));
        }
      }
      if (!abort.signal.aborted) {
        timer = setTimeout(look, isActive ? PERIOD : 5 * PERIOD);
      }
    };
    void look();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, []);
  return state;
}

interface Curve {
  label: string;
  index: number;
  pattern: number;
  points: [number, number][];
}

const SIZE = { width: 560, height: 326, left: 48, right: 12, top: 24, bottom: 44 };
/** Points of a curve with a mark. */
const MARKS = 60;

function Chart({ title, curves, scale }: { title: string; curves: Curve[]; scale: "log" | "fraction" }) {
  const { steps, least, most } = extent(curves);
  if (curves.every((curve) => curve.points.length === 0)) {
    return (
      <figure class="chart">
        <figcaption>{title}: nothing to show</figcaption>
      </figure>
    );
  }
  const marks = scale === "log" && least <= most ? powers(least, most) : [0, 0.25, 0.5, 0.75, 1];
  const [low, high] = [marks[0] as number, marks[marks.length - 1] as number];
  const { width, height, left, right, top, bottom } = SIZE;
  const x = (step: number) => left + ((width - left - right) * step) / steps;
  const level = (value: number) => (scale === "log" ? Math.log(value / low) / Math.max(Math.log(high / low), 1e-9) : value);
  const y = (value: number) => (value > 0 || scale !== "log" ? height - bottom - (height - top - bottom) * level(value) : NaN);
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title}: ${curves.length} curves`}>
        {marks.map((mark) => (
          <g key={mark}>
            <path class="grid" d={`M${left} ${y(mark).toFixed(1)}H${width - right}`} />
            <text class="end" x={left - 7} y={(y(mark) + 4).toFixed(1)}>
              {scale === "log" ? short(mark) : percent(mark)}
            </text>
          </g>
        ))}
        {ticks(0, steps, Math.min(6, Math.ceil(steps / niceStep(steps / 6)))).map((step) => (
          <text key={step} x={x(step).toFixed(1)} y={height - 26}>
            {step >= 1000 ? `${step / 1000}k` : step}
          </text>
        ))}
        <text class="title start" x={4} y={11}>
          {scale === "log" ? "loss" : "score (%)"}
        </text>
        <text class="title" x={(left + width - right) / 2} y={height - 6}>
          step
        </text>
        {curves.map((curve) => (
          <g key={curve.label} class={`c-${COLORS[curve.index % COLORS.length]}`}>
            <path class="curve" d={linePath(curve.points, x, y)} stroke-dasharray={DASHES[(Math.floor(curve.index / COLORS.length) + curve.pattern) % DASHES.length]}>
              <title>{curve.label}</title>
            </path>
            {spread(curve.points.filter(([, value]) => Number.isFinite(y(value))), MARKS).map(([step, value]) => (
              <circle key={step} cx={x(step).toFixed(1)} cy={y(value).toFixed(1)} r={2.5}>
                <title>{`${curve.label}, step ${step}: ${scale === "log" ? long(value) : percent(value)}`}</title>
              </circle>
            ))}
          </g>
        ))}
      </svg>
    </figure>
  );
}

/** The largest step, and the range of positive values. */
function extent(curves: Curve[]): { steps: number; least: number; most: number } {
  let [steps, least, most] = [1, Infinity, -Infinity];
  for (const [step, value] of curves.flatMap((curve) => curve.points)) {
    steps = Math.max(steps, step);
    if (value > 0) {
      [least, most] = [Math.min(least, value), Math.max(most, value)];
    }
  }
  return { steps, least, most };
}

function RunTable({ runs, hidden, toggle }: { runs: TrainingRun[]; hidden: ReadonlySet<string>; toggle(name: string): void }) {
  return (
    <div class="scrolled" tabIndex={0} role="region" aria-label="Runs">
      <table class="runs">
        <thead>
          <tr>
            <th scope="col">run</th>
            <th scope="col">algorithms</th>
            <th scope="col">processor</th>
            <th scope="col">state</th>
            <th scope="col">steps</th>
            <th scope="col">best validation</th>
          </tr>
        </thead>
        <tbody>
          {runs.map(({ name, algorithms, processor, status, error }, index) => (
            <tr key={name}>
              <th scope="row">
                <input type="checkbox" checked={!hidden.has(name)} onChange={() => toggle(name)} title="Show the curves" aria-label={`Show the curves of ${name}`} />{" "}
                <span class={`line-sample c-${COLORS[index % COLORS.length]}`} /> {name}
              </th>
              <td>{algorithms.length > 3 ? `${algorithms.slice(0, 3).join(", ")} and ${algorithms.length - 3} more` : algorithms.join(", ")}</td>
              <td>{processor}</td>
              <td>{error ?? status?.error ?? status?.status ?? "not started"}</td>
              <td>
                {status && (
                  <>
                    <progress max={status.steps} value={status.step} aria-label={`${name}: ${status.step} of ${status.steps} steps`} /> {status.step} / {status.steps}
                  </>
                )}
              </td>
              <td>{status?.best ? `${percent(status.best.score)} at ${status.best.step}` : "\u2013"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
