// Pictures with their time line, the source beside them, and the keys.

import { useMemo } from "preact/hooks";
import { suitableSpeed, neighbor, SPEEDS } from "../model/clock.ts";
import type { Recording } from "../model/recording.ts";
import type { AlgorithmText } from "./data.ts";
import { useKeys, usePlayer, type Player, type Run } from "./hooks.ts";
import { Pane } from "./pane.tsx";
import { Side } from "./side.tsx";
import { Transport } from "./transport.tsx";
import { Changes, Errors } from "./words.tsx";

/** One of the pictures in view. */
export interface Shown {
  title: string;
  run: Run;
  /** What is drawn: the recorded run, or a prediction of it. */
  recording: Recording;
  text: AlgorithmText;
}

export interface ViewerProps {
  shown: Shown[];
  frame: number;
  /** Frame of the second picture if it steps on its own. */
  otherFrame: number | null;
  setFrame(frame: number): void;
  setOtherFrame(frame: number | null): void;
  /** Keys that the page around handles. */
  onKey?(key: string): boolean;
  /** What is below the code: by default, the key of the picture. */
  children?: preact.ComponentChildren;
}

export function Viewer({ shown, frame, otherFrame, setFrame, setOtherFrame, onKey, children }: ViewerProps) {
  const first = shown[0] as Shown;
  const isApart = otherFrame !== null && shown.length === 2;
  const frames = isApart ? first.recording.frames : Math.max(...shown.map(({ recording }) => recording.frames));
  const other = shown[1];
  const clamp = (at: number, most: number) => Math.min(Math.max(at, 0), most - 1);
  const at = clamp(frame, frames);
  const show = (to: number) => setFrame(clamp(to, frames));
  const otherFrames = other?.recording.frames ?? 1;
  const showOther = (to: number) => setOtherFrame(clamp(to, otherFrames));
  const player = usePlayer(at, frames, suitableSpeed(frames), show);
  const otherPlayer = usePlayer(otherFrame ?? 0, otherFrames, suitableSpeed(otherFrames), showOther);
  const errors = useMemo(() => wrongFrames(shown), [shown]);
  const phases = useMemo(() => first.run.events.filter((event) => event.phases.length > 0).map((event) => event.frame), [first.run]);

  useKeys((event) => {
    const key = event.key;
    const by = event.shiftKey ? 10 : 1;
    switch (key) {
      case "ArrowRight":
        show(at + by);
        if (isApart) {
          showOther((otherFrame ?? 0) + by);
        }
        break;
      case "ArrowLeft":
        show(at - by);
        if (isApart) {
          showOther((otherFrame ?? 0) - by);
        }
        break;
      case "Home":
        show(0);
        break;
      case "End":
        show(frames - 1);
        break;
      case " ":
        player.toggle();
        break;
      case ",":
      case ".":
        changeSpeed(player, key === "." ? 1 : -1);
        break;
      case "[":
      case "]":
        show(neighbor(phases, at, key === "]" ? 1 : -1));
        break;
      case "d":
        show(errors[0] ?? at);
        break;
      case "l":
        if (shown.length === 2) {
          setOtherFrame(isApart ? null : clamp(at, otherFrames));
        }
        break;
      default:
        return onKey?.(key) ?? false;
    }
    if (key !== " " && key !== "," && key !== ".") {
      player.stop();
    }
    return true;
  });

  const step = (of: Shown, index: number) => (index === 1 && isApart ? (otherFrame ?? 0) : Math.min(at, of.recording.frames - 1));
  // Predictions are of the algorithm before them.
  const algorithms = shown.flatMap((of, index) => (of.recording === of.run.truth ? [{ of, frame: step(of, index) }] : []));
  const timeline = { frame: at, frames, steps: first.recording.steps, events: first.run.events, errors, player, show };
  return (
    <div class={shown.length > 1 ? "viewer several" : "viewer"}>
      <div class="stage">
        <div class="panes">
          {shown.map((one, index) => (
            <div key={index} class="pane-with-time">
              <Pane title={one.title} scene={one.run.scene} recording={one.recording} truth={one.recording === one.run.truth ? null : one.run.truth}
                frame={step(one, index)} frames={one.recording.frames} isTitled={shown.length > 1} />
              {isApart && index === 0 && <Transport {...timeline} name={one.title} />}
              {isApart && index === 1 && (
                <Transport frame={otherFrame ?? 0} frames={otherFrames} steps={one.recording.steps} events={one.run.events} player={otherPlayer} show={showOther}
                  name={one.title} />
              )}
            </div>
          ))}
        </div>
        {!isApart && <Transport {...timeline} steps={frames - 1} />}
        <div class="changes-of-all">
          {algorithms.map(({ of, frame }) => (
            <Changes key={of.title} of={of} frame={frame} isQuiet={player.isPlaying || otherPlayer.isPlaying} isHalf={algorithms.length > 1} />
          ))}
        </div>
        {shown.map((one, index) => one.recording === one.run.prediction && <Errors key={index} of={one} frame={step(one, index)} isTitled={shown.length > 2} />)}
      </div>
      <Side algorithms={algorithms} hasErrors={algorithms.length < shown.length}>{children}</Side>
    </div>
  );
}

/** Frames in which any picture shows an error. */
function wrongFrames(shown: Shown[]): number[] {
  const all = shown.flatMap(({ run, recording }) => (recording === run.prediction ? (run.divergence?.frames ?? []) : []));
  return [...new Set(all)].sort((a, b) => a - b);
}

function changeSpeed(player: Player, direction: 1 | -1) {
  const index = SPEEDS.indexOf(player.speed) + direction;
  player.setSpeed(SPEEDS[Math.min(Math.max(index, 0), SPEEDS.length - 1)] as number);
}
