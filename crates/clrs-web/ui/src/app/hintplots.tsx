// Scores of hints over time, for the whole set.

import { linePath } from "../layout/chart.ts";
import { percent } from "../model/format.ts";
import type { Overview } from "./data.ts";

const WIDTH = 200;
const HEIGHT = 26;

export function HintPlots({ hints, frame }: { hints: Overview["hints"]; frame: number }) {
  if (hints.length === 0) {
    return null;
  }
  const steps = Math.max(1, ...hints.map((hint) => hint.per_step.length));
  // The first step is given: the score of step k is at k + 1.
  const x = (step: number) => (WIDTH * step) / steps;
  return (
    <>
      <h3>Hint scores by step</h3>
      <table class="hint-plots">
        <tbody>
          {hints.map(({ name, score, per_step }) => {
            const most = Math.max(1, ...per_step);
            const points = per_step.map((value, index) => [index + 1, value] as const);
            const current = per_step[frame - 1];
            return (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>
                  <svg viewBox={`-2 -3 ${WIDTH + 4} ${HEIGHT + 6}`} role="img" aria-label={`${name}: ${score === null ? "no score" : percent(score)}`}>
                    <path class="grid" d={`M0 0H${WIDTH}M0 ${HEIGHT}H${WIDTH}`} />
                    <path class="curve" d={linePath(points, x, (value) => HEIGHT - (HEIGHT * value) / most)} />
                    <path class="now" d={`M${x(Math.min(frame, steps))} -3V${HEIGHT + 3}`} />
                  </svg>
                </td>
                <td class="number">{current === undefined ? (score === null ? "\u2013" : percent(score)) : percent(current)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}
