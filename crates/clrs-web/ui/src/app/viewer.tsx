// Pictures with their time line, the source beside them, and the keys.

import { useMemo, useState } from "preact/hooks";
import { suitableSpeed, neighbor, SPEEDS } from "../model/clock.ts";
import { changes, changeText } from "../model/describe.ts";
import { plural } from "../model/format.ts";
import type { Recording } from "../model/recording.ts";
import { View } from "../model/view.ts";
import { Code } from "./code.tsx";
import type { AlgorithmText } from "./data.ts";
import { useKeys, usePlayer, type Player, type Run } from "./hooks.ts";
import { Key } from "./key.tsx";
import { Markdown } from "./markdown.tsx";
import { Pane } from "./pane.tsx";
import { Transport } from "./transport.tsx";

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
  /** What is below the code: by default, the key of the first picture. */
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
        <Changes recording={first.recording} frame={step(first, 0)} isQuiet={player.isPlaying} />
      </div>
      <Side text={first.text} line={lineOf(first, step(first, 0))}>
        {children ?? <Key scene={first.run.scene} view={new View(first.recording, step(first, 0))} />}
      </Side>
    </div>
  );
}

/** Frames in which any picture shows an error. */
function wrongFrames(shown: Shown[]): number[] {
  const all = shown.flatMap(({ run, recording }) => (recording === run.prediction ? (run.divergence?.frames ?? []) : []));
  return [...new Set(all)].sort((a, b) => a - b);
}

/** The source line of a step; that of the last step for the result. */
function lineOf({ run }: Shown, frame: number): number | null {
  const locations = run.trace.step_locations;
  return locations[Math.min(frame, locations.length - 1)]?.line ?? null;
}

function changeSpeed(player: Player, direction: 1 | -1) {
  const index = SPEEDS.indexOf(player.speed) + direction;
  player.setSpeed(SPEEDS[Math.min(Math.max(index, 0), SPEEDS.length - 1)] as number);
}

const MAX_CHANGES = 8;

/** What changed, in words. Read aloud by screen readers, except while playing. */
function Changes({ recording, frame, isQuiet }: { recording: Recording; frame: number; isQuiet: boolean }) {
  const { shown, count } = changes(recording, frame, MAX_CHANGES);
  return (
    <p class="changes-line" aria-live={isQuiet ? "off" : "polite"}>
      {frame === 0 ? <span class="muted">the first step</span> : count === 0 && <span class="muted">nothing changed</span>}
      {shown.map((change) => (
        <span key={change.name} class="change">
          {changeText(change)}
        </span>
      ))}
      {count > shown.length && <span class="muted">and {plural(count - shown.length, "more change")}</span>}
    </p>
  );
}

function Side({ text, line, children }: { text: AlgorithmText; line: number | null; children: preact.ComponentChildren }) {
  const [tab, setTab] = useState<"code" | "about">("code");
  const tabProps = (name: "code" | "about") => ({
    role: "tab" as const,
    id: `tab-${name}`,
    "aria-selected": tab === name,
    "aria-controls": "side-panel",
    onClick: () => setTab(name),
  });
  return (
    <aside class="side">
      <section>
        <div class="tabs" role="tablist" aria-label="Algorithm">
          <button type="button" {...tabProps("code")}>Code</button>
          <button type="button" {...tabProps("about")}>About</button>
        </div>
        <div id="side-panel" role="tabpanel" aria-labelledby={`tab-${tab}`} class="tab-panel">
          {tab === "code" ? (
            <Code text={text} line={line} />
          ) : (
            <div class="prose" tabIndex={0}>
              <Markdown text={text.documentation} />
            </div>
          )}
        </div>
      </section>
      <section class="below-code" tabIndex={0} aria-label="Key">
        {children}
      </section>
    </aside>
  );
}
