// A page that was saved, with its traces inside: no server, no choice of problems.

import { useMemo, useState } from "preact/hooks";
import type { Saved } from "./data.ts";
import { prepareRun } from "./hooks.ts";
import { SaveMenu } from "./savemenu.tsx";
import { Viewer, type Shown } from "./viewer.tsx";

export function SavedPage({ saved, onKey }: { saved: Saved; onKey(key: string): boolean }) {
  const [frame, setFrame] = useState(saved.frame);
  const [otherFrame, setOtherFrame] = useState<number | null>(null);
  const shown = useMemo(() => saved.documents.flatMap(toShown), [saved]);
  return (
    <main class="trace-page">
      <div class="controls">
        <h1>{saved.documents.map(({ text }) => text.title).join(", ")}</h1>
        <span class="spacer" />
        <SaveMenu shown={shown} frame={frame} />
      </div>
      <Viewer shown={shown} frame={frame} otherFrame={otherFrame} setFrame={setFrame} setOtherFrame={setOtherFrame} onKey={onKey} />
    </main>
  );
}

/** The recorded run, and the prediction beside it if there is one. */
function toShown({ trace, text }: Saved["documents"][number]): Shown[] {
  const run = prepareRun(trace);
  const truth: Shown = { title: run.prediction ? "Truth" : text.title, run, recording: run.truth, text };
  return run.prediction ? [truth, { title: "Prediction", run, recording: run.prediction, text }] : [truth];
}
