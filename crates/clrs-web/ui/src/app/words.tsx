// What happens at a step, in words below the pictures.

import { changes, changeText } from "../model/describe.ts";
import { wrongDecisions, wrongText } from "../model/divergence.ts";
import { plural } from "../model/format.ts";
import type { Shown } from "./viewer.tsx";

const MAX_CHANGES = 8;
const MAX_ERRORS = 6;

/** What changed, in words. Read aloud by screen readers, except while playing. */
export function Changes({ of: { recording }, frame, isQuiet, isHalf }: { of: Shown; frame: number; isQuiet: boolean; isHalf: boolean }) {
  const { shown, count } = changes(recording, frame, isHalf ? MAX_CHANGES / 2 : MAX_CHANGES);
  return (
    <p class="changes-line" aria-live={isQuiet ? "off" : "polite"}>
      {frame === 0 && <span class="muted">the first step</span>}
      {frame > 0 && count === 0 && <span class="muted">{frame < recording.steps ? "nothing changed" : "the result is what the last step left"}</span>}
      {shown.map((change) => (
        <span key={change.name} class="change">
          {changeText(change)}
        </span>
      ))}
      {count > shown.length && <span class="muted">and {plural(count - shown.length, "more change")}</span>}
    </p>
  );
}

/** Decisions of a network that differ from the truth, in words. */
export function Errors({ of: { title, run, recording }, frame, isTitled }: { of: Shown; frame: number; isTitled: boolean }) {
  const wrong = wrongDecisions(recording, run.truth, frame);
  return (
    <p class="changes-line errors-line">
      {isTitled && <b>{title}</b>}
      {wrong.length === 0 && <span class="muted">no wrong decision at this step</span>}
      {wrong.slice(0, MAX_ERRORS).map((one) => (
        <span key={one.name} class="mistake">
          {wrongText(one)}
        </span>
      ))}
      {wrong.length > MAX_ERRORS && <span class="muted">and {plural(wrong.length - MAX_ERRORS, "more error")}</span>}
    </p>
  );
}
