// The source of an algorithm, with the line of the current step marked.

import { useEffect, useMemo, useRef } from "preact/hooks";
import { classes } from "../pictures/marks.tsx";
import type { AlgorithmText } from "./data.ts";

const KEYWORDS = new Set(
  "as const continue else enum fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait type use where while break true false".split(" "),
);
const TOKENS = /(\/\/[^\n]*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)')|(\b\d[\w.]*\b)|([A-Za-z_]\w*!?)|(\s+|.)/gs;

/** Splits a line of Rust into pieces with the class of each. */
export function highlight(line: string): [string, string][] {
  const pieces: [string, string][] = [];
  for (const [text, comment, string, number, word] of line.matchAll(TOKENS)) {
    const kind = comment ? "comment" : string ? "string" : number ? "number" : word ? wordKind(word) : "";
    const last = pieces[pieces.length - 1];
    if (last && last[0] === kind) {
      last[1] += text;
    } else {
      pieces.push([kind, text]);
    }
  }
  return pieces;
}

function wordKind(word: string): string {
  return KEYWORDS.has(word) ? "keyword" : word.endsWith("!") ? "macro" : /^[A-Z]/.test(word) ? "type" : "";
}

export function Code({ text, line }: { text: AlgorithmText; line: number | null }) {
  const ref = useRef<HTMLPreElement>(null);
  const lines = useMemo(() => text.source.split("\n").map(highlight), [text]);
  const current = line === null ? -1 : line - text.first_line;
  useEffect(() => {
    const box = ref.current;
    const marked = box?.querySelector<HTMLElement>(".current");
    if (box && marked) {
      const top = marked.offsetTop - box.clientHeight / 2 + marked.offsetHeight / 2;
      box.scrollTo({ top, behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    }
  }, [current, text]);
  const rows = useMemo(
    () =>
      lines.map((pieces) => pieces.map(([kind, piece], index) => (kind ? <span key={index} class={`tok-${kind}`}>{piece}</span> : piece))),
    [lines],
  );
  return (
    <pre class="code" ref={ref} tabIndex={0} aria-label="Source code">
      {rows.map((row, index) => (
        <code key={index} class={classes("line", index === current && "current")} aria-current={index === current ? "step" : undefined}>
          <span class="line-number">{text.first_line + index}</span>
          {row}
          {"\n"}
        </code>
      ))}
    </pre>
  );
}
