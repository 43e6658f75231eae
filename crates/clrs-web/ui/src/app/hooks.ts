// State of components.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { events, type TimelineEvent } from "../model/changes.ts";
import { frameAt, type Clock } from "../model/clock.ts";
import { divergence, type Divergence } from "../model/divergence.ts";
import { predicted, recorded, type Recording } from "../model/recording.ts";
import { buildScene, type Scene } from "../model/scene.ts";
import type { TraceJson } from "../model/trace.ts";

export interface Run {
  trace: TraceJson;
  truth: Recording;
  scene: Scene;
  events: TimelineEvent[];
  prediction: Recording | null;
  divergence: Divergence | null;
}

export function prepareRun(trace: TraceJson): Run {
  const truth = recorded(trace);
  const prediction = predicted(trace);
  return {
    trace,
    truth,
    scene: buildScene(truth, trace.problem),
    events: events(truth),
    prediction,
    divergence: prediction && divergence(prediction, truth),
  };
}

export function useRun(trace: TraceJson | null): Run | null {
  return useMemo(() => trace && prepareRun(trace), [trace]);
}

/** The size of an element. */
export function useSize<E extends Element>(): [{ current: E | null }, { width: number; height: number }] {
  const ref = useRef<E>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) {
      return;
    }
    const measure = () => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, size];
}

let hasPainted = false;

/** Whether the page has been painted once: until then, only the picture is drawn, so that it is seen sooner. */
export function usePainted(): boolean {
  const [isPainted, setPainted] = useState(hasPainted);
  // Effects run when the browser paints: the next frame is after that.
  useEffect(() => {
    requestAnimationFrame(() => setPainted((hasPainted = true)));
  }, []);
  return isPainted;
}

/** Calls back for keys that are not meant for a form, a button or a dialog. */
export function useKeys(handle: (event: KeyboardEvent) => boolean) {
  // Keys may come faster than effects run: the listener always finds the latest callback.
  const latest = useRef(handle);
  latest.current = handle;
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const isRange = target instanceof HTMLInputElement && target.type === "range";
      const isForm = target?.closest("input, textarea, select") && !isRange;
      const isButton = event.key === " " && target?.closest("button, summary");
      const isBehindDialog = document.querySelector("dialog[open]") !== null;
      if (!isForm && !isButton && !isBehindDialog && !event.ctrlKey && !event.metaKey && !event.altKey && latest.current(event)) {
        event.preventDefault();
      }
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, []);
}

export interface Player {
  isPlaying: boolean;
  speed: number;
  toggle(): void;
  stop(): void;
  setSpeed(speed: number): void;
}

/** Plays frames by the clock. Starts from the first frame if it is at the last. */
export function usePlayer(frame: number, frames: number, initialSpeed: number, show: (frame: number) => void): Player {
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(initialSpeed);
  const current = useRef(frame);
  current.current = frame;
  const callback = useRef(show);
  callback.current = show;
  useEffect(() => setSpeed(initialSpeed), [initialSpeed]);
  useEffect(() => {
    if (!isPlaying) {
      return;
    }
    const clock: Clock = { startFrame: current.current, startTime: performance.now(), speed };
    let request = requestAnimationFrame(function tick(now) {
      const due = frameAt(clock, now, frames);
      if (due !== current.current) {
        callback.current(due);
      }
      if (due >= frames - 1) {
        setPlaying(false);
      } else {
        request = requestAnimationFrame(tick);
      }
    });
    return () => cancelAnimationFrame(request);
  }, [isPlaying, speed, frames]);
  return {
    isPlaying,
    speed,
    toggle: () => {
      if (!isPlaying && current.current >= frames - 1) {
        callback.current(0);
        current.current = 0;
      }
      setPlaying(!isPlaying);
    },
    stop: () => setPlaying(false),
    setSpeed,
  };
}

export interface Loaded<T> {
  value: T | null;
  error: string | null;
  /** Whether `value` and `error` belong to an earlier key. */
  isLoading: boolean;
}

/** The result of a request that is made again when `key` changes, and cancelled when it is not needed any more. */
export function useLoaded<T>(key: string | null, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value: T | null; error: string | null; key: string | null }>({ value: null, error: null, key: null });
  // Without waiting for the browser to paint what is there so far.
  useLayoutEffect(() => {
    if (key === null) {
      setState({ value: null, error: null, key });
      return;
    }
    const abort = new AbortController();
    load(abort.signal).then(
      (value) => abort.signal.aborted || setState({ value, error: null, key }),
      (error: unknown) => {
        if (!abort.signal.aborted) {
          setState((old) => ({ value: old.value, error: error instanceof Error ? error.message : String(error), key }));
        }
      },
    );
    return () => abort.abort();
  }, [key]);
  return { value: state.value, error: state.error, isLoading: state.key !== key };
}

export type Theme = "light" | "dark";

export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(initialTheme);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // Saved pages may have no storage.
    }
  }, [theme]);
  return [theme, () => setTheme((old) => (old === "dark" ? "light" : "dark"))];
}

function initialTheme(): Theme {
  let stored: string | null = null;
  try {
    stored = localStorage.getItem("theme");
  } catch {
    // As above.
  }
  const isDark = stored ? stored === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  return isDark ? "dark" : "light";
}
