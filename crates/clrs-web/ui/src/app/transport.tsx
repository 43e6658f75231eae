// The time line: first, back, play, forward, last; a slider over marks of what happens when.

import { useMemo } from "preact/hooks";
import type { TimelineEvent } from "../model/changes.ts";
import { SPEEDS } from "../model/clock.ts";
import { stepLabel } from "../model/describe.ts";
import { Keep } from "../pictures/marks.tsx";
import type { Player } from "./hooks.ts";
import { Icon } from "./icons.tsx";

export interface TransportProps {
  frame: number;
  frames: number;
  steps: number;
  events: TimelineEvent[];
  /** Frames in which a prediction is wrong. */
  errors?: number[];
  player: Player;
  show(frame: number): void;
  name?: string;
}

export function Transport({ frame, frames, steps, events, errors = [], player, show, name = "" }: TransportProps) {
  const label = stepLabel(frame, steps);
  const of = name ? ` of ${name}` : "";
  // Buttons that do nothing keep the focus: the next key goes where the last one did.
  const [isFirst, isLast] = [frame === 0, frame >= frames - 1];
  const marks = useMemo(() => ({}), [events, frames, errors.join()]);
  return (
    <div class="transport" role="group" aria-label={`Time${of}`}>
      <div class="buttons">
        <button type="button" onClick={() => isFirst || show(0)} aria-disabled={isFirst} aria-label={`First step${of}`} title="First step (Home)">
          <Icon name="first" />
        </button>
        <button type="button" onClick={() => isFirst || show(frame - 1)} aria-disabled={isFirst} aria-label={`Step back${of}`} title={"Step back (\u2190)"}>
          <Icon name="back" />
        </button>
        <button type="button" class="play" onClick={player.toggle} aria-label={player.isPlaying ? `Pause${of}` : `Play${of}`} title="Play or pause (space)">
          <Icon name={player.isPlaying ? "pause" : "play"} />
        </button>
        <button type="button" onClick={() => isLast || show(frame + 1)} aria-disabled={isLast} aria-label={`Step forward${of}`} title={"Step forward (\u2192)"}>
          <Icon name="forward" />
        </button>
        <button type="button" onClick={() => isLast || show(frames - 1)} aria-disabled={isLast} aria-label={`Result${of}`} title="Result (End)">
          <Icon name="last" />
        </button>
      </div>
      <div class="scrubber">
        <Keep by={marks}>
          <Marks events={events} errors={errors} frames={frames} />
        </Keep>
        <input type="range" min={0} max={Math.max(frames - 1, 1)} step={1} value={frame} aria-label={`Step${of}`} aria-valuetext={label}
          onInput={(event) => show(Number(event.currentTarget.value))} />
      </div>
      <output class="step">{label}</output>
      <label class="speed" title="Steps per second (, and .)">
        <span class="visually-hidden">Steps per second</span>
        <select value={player.speed} onChange={(event) => player.setSpeed(Number(event.currentTarget.value))}>
          {SPEEDS.map((speed) => (
            <option key={speed} value={speed}>{`${speed}/s`}</option>
          ))}
        </select>
      </label>
    </div>
  );
}

const HEIGHT = 22;

/** Bars for the number of changes, diamonds for phases that begin, crosses for errors. */
function Marks({ events, errors, frames }: { events: TimelineEvent[]; errors: number[]; frames: number }) {
  const { bars, most } = useMemo(() => {
    const most = Math.max(1, ...events.map((event) => event.changes));
    const step = 1000 / Math.max(frames - 1, 1);
    const width = Math.min(step * 0.7, 10);
    const bars = events.map(({ frame, changes }) => {
      const height = (Math.log1p(changes) / Math.log1p(most)) * (HEIGHT - 6);
      return height > 0 ? `M${(frame * step - width / 2).toFixed(1)} ${HEIGHT}v${(-height).toFixed(1)}h${width.toFixed(1)}V${HEIGHT}z` : "";
    });
    return { bars: bars.join(""), most };
  }, [events, frames]);
  const at = (frame: number) => `${(100 * frame) / Math.max(frames - 1, 1)}%`;
  const phases = events.filter((event) => event.phases.length > 0);
  return (
    <div class="marks" aria-hidden="true" data-most={most}>
      <svg viewBox={`0 0 1000 ${HEIGHT}`} preserveAspectRatio="none">
        <path class="changes" d={bars} />
      </svg>
      {phases.length <= 60 && phases.map(({ frame, phases }) => <span key={frame} class="phase-mark" style={{ left: at(frame) }} title={phases.join(", ")} />)}
      {errors.length > 0 && errors.length <= 200 && errors.map((frame, index) => (
        <span key={frame} class={index === 0 ? "error-mark first" : "error-mark"} style={{ left: at(frame) }} />
      ))}
    </div>
  );
}
