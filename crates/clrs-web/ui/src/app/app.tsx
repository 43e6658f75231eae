// The page: which view, its address, its theme.

import { useEffect, useRef, useState } from "preact/hooks";
import { readSaved, server, type ServerInfo } from "./data.ts";
import { Gallery } from "./gallery.tsx";
import { Help } from "./help.tsx";
import { useKeys, useLoaded, useTheme } from "./hooks.ts";
import { Icon } from "./icons.tsx";
import { SavedPage } from "./savedpage.tsx";
import { formatState, parseState, type State } from "./state.ts";
import { TracePage } from "./tracepage.tsx";

export function App() {
  const [saved] = useState(readSaved);
  const [theme, toggleTheme] = useTheme();
  const [isHelp, setHelp] = useState(false);
  const onKey = (key: string): boolean => {
    if (key === "?") {
      setHelp(true);
    } else if (key === "t") {
      toggleTheme();
    } else if (key === "g" && !saved) {
      location.hash = "#/";
    } else {
      return false;
    }
    return true;
  };
  return (
    <>
      <header class="top">
        <a class="brand" href={saved ? "#" : "#/"}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="M4 12L8 4l4 8" />
            <circle cx="4" cy="12" r="2.4" />
            <circle cx="8" cy="4" r="2.4" />
            <circle cx="12" cy="12" r="2.4" />
          </svg>
          clrs explorer
        </a>
        <span class="spacer" />
        <button type="button" onClick={toggleTheme} title="Light or dark (t)" aria-label={theme === "dark" ? "Light colors" : "Dark colors"}>
          <Icon name="theme" />
        </button>
        <button type="button" onClick={() => setHelp(true)} title="Keys (?)" aria-label="Help">
          ?
        </button>
      </header>
      {saved ? <SavedPage saved={saved} onKey={onKey} /> : <Served onKey={onKey} />}
      <Help isOpen={isHelp} close={() => setHelp(false)} />
    </>
  );
}

/** The page of `clrs serve`. */
function Served({ onKey }: { onKey(key: string): boolean }) {
  const [state, go] = useAddress();
  const info = useLoaded<ServerInfo>("info", () => server.info());
  useEffect(() => {
    document.title = state.algorithm ? `${state.algorithm} \u2013 clrs explorer` : "clrs explorer";
  }, [state.algorithm]);
  if (!info.value) {
    return <main class="loading">{info.error ?? "Loading"}</main>;
  }
  const props = { info: info.value, state, go, onKey };
  return state.page === "trace" ? <TracePage {...props} /> : <GalleryPage {...props} />;
}

function GalleryPage({ info, onKey }: { info: ServerInfo; onKey(key: string): boolean }) {
  useKeys((event) => onKey(event.key));
  return <Gallery info={info} />;
}

/** Milliseconds before the address follows the current step: browsers limit how often it may change. */
const DELAY = 250;

/** The state in the address. Steps replace the entry in the history, everything else adds one. */
function useAddress(): [State, (change: Partial<State>) => void] {
  const [state, setState] = useState(() => parseState(location.hash));
  const current = useRef(state);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => {
    const listen = (event: HashChangeEvent) => {
      // A delayed step may have replaced the address in the meantime.
      clearTimeout(timer.current);
      const { hash } = new URL(event.newURL);
      if (location.hash !== hash) {
        history.replaceState(null, "", hash);
      }
      current.current = parseState(hash);
      setState(current.current);
    };
    addEventListener("hashchange", listen);
    return () => removeEventListener("hashchange", listen);
  }, []);
  const go = (change: Partial<State>) => {
    current.current = { ...current.current, ...change };
    setState(current.current);
    clearTimeout(timer.current);
    const isStep = Object.keys(change).every((name) => name === "frame" || name === "otherFrame");
    if (isStep) {
      timer.current = setTimeout(() => history.replaceState(null, "", formatState(current.current)), DELAY);
    } else {
      history.pushState(null, "", formatState(current.current));
    }
  };
  return [state, go];
}
