// A form for the problem: a field per part of it, and the complete JSON.

import { useState } from "preact/hooks";
import { fieldKind, formatNumbers, parseNumbers } from "../model/problem.ts";
import type { Problem } from "../model/trace.ts";

/** Larger matrices are edited as JSON. */
const MAX_MATRIX = 20;

export interface EditorProps {
  problem: Problem;
  error: string | null;
  isBusy: boolean;
  apply(problem: Problem): void;
  close(): void;
}

export function Editor({ problem, error, isBusy, apply, close }: EditorProps) {
  const [draft, setDraft] = useState(problem);
  const [json, setJson] = useState<string | null>(null);
  const [problemOfForm, setFormError] = useState<string | null>(null);
  const set = (name: string, value: unknown) => {
    setFormError(null);
    setDraft({ ...draft, [name]: value });
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (json === null) {
      apply(draft);
      return;
    }
    try {
      const value: unknown = JSON.parse(json);
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        throw new Error("a problem is a JSON object");
      }
      setDraft(value as Problem);
      apply(value as Problem);
      setFormError(null);
    } catch (error) {
      setFormError(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <form class="editor" onSubmit={submit} onKeyDown={(event) => event.key === "Escape" && close()} aria-label="Problem">
      <header>
        <h2>Problem</h2>
        <button type="button" aria-pressed={json !== null} onClick={() => setJson(json === null ? JSON.stringify(draft, null, 1) : null)}>
          JSON
        </button>
      </header>
      {json !== null ? (
        <textarea rows={12} spellcheck={false} value={json} aria-label="Problem as JSON" onInput={(event) => setJson(event.currentTarget.value)} />
      ) : (
        Object.entries(draft).map(([name, value]) => <Field key={name} name={name} value={value} set={(value) => set(name, value)} fail={setFormError} />)
      )}
      {(problemOfForm ?? error) && (
        <p class="error" role="alert">
          {problemOfForm ?? error}
        </p>
      )}
      <footer>
        <button type="submit" class="primary" disabled={isBusy}>
          Run
        </button>
        <button type="button" onClick={close}>
          Close
        </button>
      </footer>
    </form>
  );
}

interface FieldProps {
  name: string;
  value: unknown;
  set(value: unknown): void;
  fail(message: string): void;
}

function Field({ name, value, set, fail }: FieldProps) {
  const kind = fieldKind(value);
  if (kind === "matrix" && (value as number[][]).length <= MAX_MATRIX) {
    return <Matrix name={name} value={value as number[][]} set={set} />;
  }
  const text = kind === "list" ? formatNumbers(value as number[]) : kind === "text" || kind === "number" ? String(value) : JSON.stringify(value);
  const parse = (text: string): unknown => {
    switch (kind) {
      case "number":
        return Number(text);
      case "text":
        return text;
      case "list":
        return parseNumbers(text);
      default:
        return JSON.parse(text) as unknown;
    }
  };
  const change = (event: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
    let parsed: unknown = null;
    try {
      parsed = parse(event.currentTarget.value);
    } catch {
      // Reported below.
    }
    if (parsed === null || Number.isNaN(parsed)) {
      fail(`${name}: ${kind === "list" ? "numbers, separated by commas" : kind === "number" ? "a number" : "JSON"} expected`);
    } else {
      set(parsed);
    }
  };
  return (
    <label>
      <span>{name}</span>
      {kind === "list" || kind === "json" || kind === "matrix" ? (
        <textarea rows={kind === "list" ? 3 : 5} spellcheck={false} onChange={change}>
          {text}
        </textarea>
      ) : kind === "number" ? (
        <input type="number" step="any" defaultValue={text} onChange={change} />
      ) : (
        <input type="text" defaultValue={text} onChange={change} />
      )}
    </label>
  );
}

/** As many digits as the picture has. */
function rounded(cell: number): number {
  return Number(cell.toPrecision(Math.abs(cell) < 1 ? 2 : 4));
}

/** A matrix of numbers: weights, with an empty cell for none. A symmetric matrix stays symmetric. */
function Matrix({ name, value, set }: { name: string; value: number[][]; set(value: number[][]): void }) {
  const isSymmetric = value.every((row, from) => row.length === value.length && row.every((cell, to) => cell === value[to]?.[from]));
  const change = (from: number, to: number, cell: number) => {
    const changed = value.map((row) => [...row]);
    (changed[from] as number[])[to] = cell;
    if (isSymmetric) {
      (changed[to] as number[])[from] = cell;
    }
    set(changed);
  };
  return (
    <fieldset class="matrix">
      <legend>{name}</legend>
      <div class="scrolled">
        <table>
          <thead>
            <tr>
              <td />
              {value[0]?.map((_, column) => <th key={column} scope="col">{column}</th>)}
            </tr>
          </thead>
          <tbody>
            {value.map((row, from) => (
              <tr key={from}>
                <th scope="row">{from}</th>
                {row.map((cell, to) => (
                  <td key={to}>
                    <input type="number" step="any" aria-label={`${name} ${from}, ${to}`} title={String(cell)} value={cell === 0 ? "" : rounded(cell)}
                      onChange={(event) => change(from, to, Number(event.currentTarget.value) || 0)} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </fieldset>
  );
}
