// The source and the documentation of an algorithm, and the key of its picture; of two algorithms, those of the chosen one.

import { useState } from "preact/hooks";
import { View } from "../model/view.ts";
import { Code } from "./code.tsx";
import { usePainted } from "./hooks.ts";
import { Key } from "./key.tsx";
import { Markdown } from "./markdown.tsx";
import type { Shown } from "./viewer.tsx";

export interface SideProps {
  /** One picture per algorithm, and its frame. */
  algorithms: { of: Shown; frame: number }[];
  /** Whether any picture shows a prediction. */
  hasErrors: boolean;
  /** What is below the code instead of the key. */
  children?: preact.ComponentChildren;
}

type Tab = "code" | "about";

export function Side({ algorithms, hasErrors, children }: SideProps) {
  const [tab, setTab] = useState<Tab>("code");
  const [chosen, setChosen] = useState(0);
  const shown = algorithms[chosen] ?? algorithms[0];
  if (!usePainted() || !shown) {
    return <aside class="side" />;
  }
  const { of, frame } = shown;
  const other: Tab = tab === "code" ? "about" : "code";
  const switchByKey = (event: KeyboardEvent) => {
    const to = { ArrowLeft: other, ArrowRight: other, Home: "code", End: "about" }[event.key] as Tab | undefined;
    if (to && !event.ctrlKey && !event.metaKey && !event.altKey) {
      // Elsewhere, the same keys step.
      event.preventDefault();
      event.stopPropagation();
      setTab(to);
      document.getElementById(`tab-${to}`)?.focus();
    }
  };
  const tabProps = (name: Tab) => ({
    role: "tab" as const,
    id: `tab-${name}`,
    tabIndex: tab === name ? 0 : -1,
    "aria-selected": tab === name,
    "aria-controls": "side-panel",
    onClick: () => setTab(name),
  });
  return (
    <aside class="side">
      <section>
        <div class="side-head">
          <div class="tabs" role="tablist" aria-label="Algorithm" onKeyDown={switchByKey}>
            <button type="button" {...tabProps("code")}>Code</button>
            <button type="button" {...tabProps("about")}>About</button>
          </div>
          {algorithms.length > 1 && (
            <select value={chosen} aria-label="Code and key of" onChange={(event) => setChosen(Number(event.currentTarget.value))}>
              {algorithms.map(({ of }, index) => (
                <option key={index} value={index}>
                  {of.title}
                </option>
              ))}
            </select>
          )}
        </div>
        <div id="side-panel" role="tabpanel" aria-labelledby={`tab-${tab}`} class="tab-panel">
          {tab === "code" ? (
            <Code text={of.text} line={lineOf(of, frame)} />
          ) : (
            <div class="prose" tabIndex={0}>
              <Markdown text={of.text.documentation} />
            </div>
          )}
        </div>
      </section>
      <section class="below-code" tabIndex={0} aria-label="Key">
        {children ?? <Key scene={of.run.scene} view={new View(of.recording, frame)} hasErrors={hasErrors} />}
      </section>
    </aside>
  );
}

/** The source line of a step; that of the last step for the result. */
function lineOf({ run }: Shown, frame: number): number | null {
  const locations = run.trace.step_locations;
  return locations[Math.min(frame, locations.length - 1)]?.line ?? null;
}
