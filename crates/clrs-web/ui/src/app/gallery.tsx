// The start page: every algorithm with a small picture of a real run.

import { useEffect, useMemo, useState } from "preact/hooks";
import { recorded } from "../model/recording.ts";
import { buildScene } from "../model/scene.ts";
import type { Problem, TraceJson } from "../model/trace.ts";
import { View } from "../model/view.ts";
import { composeSmall, Picture } from "../pictures/picture.tsx";
import { server, type ServerInfo } from "./data.ts";
import { useLoaded } from "./hooks.ts";
import { inline } from "./markdown.tsx";
import { DEFAULTS, formatState } from "./state.ts";

/** Size and seed of the problems in small pictures, and the edge probability of graphs: connected, but not crowded. */
const SMALL = { size: 7, seed: 3 };
const DENSITY = "0.65";
/** Width that small pictures are composed for, and milliseconds per frame while the pointer is over them. */
const WIDTH = 400;
const TICK = 160;

export function Gallery({ info }: { info: ServerInfo }) {
  const families = [...new Set(info.algorithms.map((one) => one.family))];
  return (
    <main class="gallery">
      <header>
        <h1>Watch algorithms run</h1>
        <p>
          {info.algorithms.length} textbook algorithms, step by step: what they are given, what they remember, and what they decide. Point at a picture to
          play it, open it to explore.
        </p>
        {info.runs.length > 0 && (
          <p>
            <a class="action" href={formatState({ ...DEFAULTS, page: "network", algorithm: info.runs[0]?.algorithms[0] ?? "" })}>
              Watch a network
            </a>{" "}
            <a class="action" href="#/training">
              Training curves
            </a>
          </p>
        )}
      </header>
      {info.presets.length > 0 && (
        <section>
          <h2>Worked examples</h2>
          <ul class="cards">
            {info.presets.map(({ title, algorithm, problem }) => (
              <Card key={algorithm} title={title} text={summaryOf(info, algorithm)} algorithm={algorithm} problem={problem} options={{}}
                href={formatState({ ...DEFAULTS, page: "trace", algorithm, problem })} />
            ))}
          </ul>
        </section>
      )}
      {families.map((family) => (
        <section key={family}>
          <h2>{family.replaceAll("_", " ")}</h2>
          <ul class="cards">
            {info.algorithms.filter((one) => one.family === family).map(({ algorithm, title, summary, options }) => (
              <Card key={algorithm} title={title} text={summary} algorithm={algorithm} problem={null}
                options={options.some(({ name }) => name === "p") ? { p: DENSITY } : {}} href={formatState({ ...DEFAULTS, page: "trace", algorithm })} />
            ))}
          </ul>
        </section>
      ))}
    </main>
  );
}

function summaryOf(info: ServerInfo, algorithm: string): string {
  return info.algorithms.find((one) => one.algorithm === algorithm)?.summary ?? "";
}

interface CardProps {
  title: string;
  text: string;
  algorithm: string;
  problem: Problem | null;
  options: Record<string, string>;
  href: string;
}

function Card({ title, text, algorithm, problem, options, href }: CardProps) {
  const [isOver, setOver] = useState(false);
  const loaded = useLoaded(algorithm, (signal) => (problem ? server.run(algorithm, problem, signal) : server.sample(algorithm, { ...SMALL, options }, signal)));
  return (
    <li class="card" onPointerEnter={() => setOver(true)} onPointerLeave={() => setOver(false)} onFocusIn={() => setOver(true)} onFocusOut={() => setOver(false)}>
      <a href={href}>
        <div class="thumbnail" aria-hidden="true">{loaded.value && <Thumbnail trace={loaded.value} isPlaying={isOver} />}</div>
        <h3>{title}</h3>
        <p>{inline(text)}</p>
      </a>
    </li>
  );
}

function Thumbnail({ trace, isPlaying }: { trace: TraceJson; isPlaying: boolean }) {
  const { recording, composition } = useMemo(() => {
    const recording = recorded(trace);
    return { recording, composition: composeSmall(buildScene(recording, trace.problem), recording.frames, WIDTH) };
  }, [trace]);
  const rest = Math.max(1, Math.floor(recording.steps * 0.6));
  const [frame, setFrame] = useState(rest);
  useEffect(() => {
    if (!isPlaying || matchMedia("(prefers-reduced-motion: reduce)").matches) {
      setFrame(rest);
      return;
    }
    const timer = setInterval(() => setFrame((old) => (old + 1) % recording.frames), TICK);
    return () => clearInterval(timer);
  }, [isPlaying, recording]);
  const view = useMemo(() => new View(recording, frame), [recording, frame]);
  return <Picture composition={composition} view={view} label="" />;
}
