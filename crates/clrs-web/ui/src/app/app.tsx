// The page: which view, its address, its theme.

import { useEffect, useRef, useState } from "preact/hooks";
import { readSaved, server, type Saved, type ServerInfo } from "./data.ts";
import { Gallery } from "./gallery.tsx";
import { Help } from "./help.tsx";
import { useKeys, useLoaded, useTheme, type Theme } from "./hooks.ts";
import { Icon } from "./icons.tsx";
import { NetworkPage } from "./networkpage.tsx";
import { SavedPage } from "./savedpage.tsx";
import { formatState, parseState, type State } from "./state.ts";
import { TracePage, type PageProps } from "./tracepage.tsx";
import { TrainingPage } from "./trainingpage.tsx";

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
  const top = { theme, toggleTheme, showHelp: () => setHelp(true) };
  return (
    <>
      {saved ? <SavedView saved={saved} top={top} onKey={onKey} /> : <ServedView top={top} onKey={onKey} />}
      <Help isOpen={isHelp} close={() => setHelp(false)} />
    </>
  );
}

interface TopProps {
  theme: Theme;
  toggleTheme(): void;
  showHelp(): void;
}

function Top({ theme, toggleTheme, showHelp, home, children }: TopProps & { home: string; children?: preact.ComponentChildren }) {
  return (
    <header class="top">
      <a class="brand" href={home} aria-label="clrs explorer">
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M4 12L8 4l4 8" />
          <circle cx="4" cy="12" r="2.4" />
          <circle cx="8" cy="4" r="2.4" />
          <circle cx="12" cy="12" r="2.4" />
        </svg>
        <span class="name">clrs explorer</span>
      </a>
      <span class="spacer" />
      {children}
      <button type="button" onClick={toggleTheme} title="Light or dark (t)" aria-label={theme === "dark" ? "Light colors" : "Dark colors"}>
        <Icon name="theme" />
      </button>
      <button type="button" onClick={showHelp} title="Keys (?)" aria-label="Help">
        ?
      </button>
    </header>
  );
}

interface ViewProps {
  top: TopProps;
  onKey(key: string): boolean;
}

/** A saved page. */
function SavedView({ saved, top, onKey }: ViewProps & { saved: Saved }) {
  return (
    <>
      <Top {...top} home="#" />
      <SavedPage saved={saved} onKey={onKey} />
    </>
  );
}

const PAGES: [State["page"], string, string][] = [
  ["gallery", "#/", "Algorithms"],
  ["network", "#/network", "Networks"],
  ["training", "#/training", "Training"],
];

/** The title of the document: histories and tabs show it. */
export function pageTitle({ page, algorithm }: Pick<State, "page" | "algorithm">): string {
  const name = page === "training" ? "Training" : page === "network" ? "Networks" : null;
  return [algorithm, name, "clrs explorer"].filter(Boolean).join(" \u2013 ");
}

/** The page of `clrs serve`. */
function ServedView({ top, onKey }: ViewProps) {
  const [state, go] = useAddress();
  const info = useLoaded<ServerInfo>("info", () => server.info());
  const title = pageTitle(state);
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <>
      <Top {...top} home="#/">
        {info.value && info.value.runs.length > 0 && (
          <nav aria-label="Pages">
            {PAGES.map(([page, href, name]) => (
              <a key={page} href={href} aria-current={page === state.page ? "page" : page === "gallery" && state.page === "trace" ? "true" : undefined}>
                {name}
              </a>
            ))}
          </nav>
        )}
      </Top>
      {info.value ? <Page info={info.value} state={state} go={go} onKey={onKey} /> : <main class="loading">{info.error ?? "Loading"}</main>}
    </>
  );
}

function Page(props: PageProps) {
  switch (props.state.page) {
    case "trace":
      return <TracePage {...props} />;
    case "network":
      return <NetworkPage {...props} />;
    case "training":
      return <TrainingPage onKey={props.onKey} />;
    default:
      return <GalleryPage {...props} />;
  }
}

function GalleryPage({ info, onKey }: PageProps) {
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
