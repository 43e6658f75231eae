// Scores of hints over time, for the whole set.

import { linePath } from "../layout/chart.ts";
import { percent } from "../model/format.ts";
import type { Overview } from "./data.ts";

const WIDTH = 200;
const HEIGHT = 26;

type Hint = Overview["hints"][number];

/** The score of a hint at a frame of a sample with `steps` steps: that of the step if it has one, otherwise the mean. */
export function hintScore({ score, per_step }: Hint, frame: number, steps: number): { label: string; score: number | null; isStep: boolean } {
  // The first step is given: scores begin with the second.
  const own = frame < steps ? per_step[frame - 1] : undefined;
  return own === undefined ? { label: "mean", score, isStep: false } : { label: `step ${frame + 1}`, score: own, isStep: true };
}

export function HintPlots({ hints, frame, steps: own }: { hints: Hint[]; frame: number; steps: number }) {
  if (hints.length === 0) {
    return null;
  }
  const steps = Math.max(1, ...hints.map((hint) => hint.per_step.length));
  const x = (step: number) => (WIDTH * step) / steps;
  return (
    <>
      <h2>Hint scores by step</h2>
      <table class="hint-plots">
        <tbody>
          {hints.map((hint) => {
            const { name, score, per_step } = hint;
            const most = Math.max(1, ...per_step);
            const points = per_step.map((value, index) => [index + 1, value] as const);
            const shown = hintScore(hint, frame, own);
            return (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>
                  <svg viewBox={`-2 -3 ${WIDTH + 4} ${HEIGHT + 6}`} role="img" aria-label={`${name}: ${score === null ? "no score" : percent(score)}`}>
                    <path class="grid" d={`M0 0H${WIDTH}M0 ${HEIGHT}H${WIDTH}`} />
                    <path class="curve" d={linePath(points, x, (value) => HEIGHT - (HEIGHT * value) / most)} />
                    {shown.isStep && <path class="now" d={`M${x(frame)} -3V${HEIGHT + 3}`} />}
                  </svg>
                </td>
                <td class="number">
                  <span class="muted">{shown.label}</span> {shown.score === null ? "\u2013" : percent(shown.score)}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}
