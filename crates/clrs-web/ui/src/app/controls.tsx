// What to show: algorithm, size, seed, options of the distribution, a second algorithm.

import { useState } from "preact/hooks";
import { plural } from "../model/format.ts";
import type { OptionInfo, ServerInfo } from "./data.ts";
import { Icon } from "./icons.tsx";
import { Menu } from "./menu.tsx";
import { MAX_SEED, type State } from "./state.ts";

export interface ControlsProps {
  info: ServerInfo;
  state: State;
  /** Nodes of the problem that is shown. */
  size: number;
  options: OptionInfo[];
  go(change: Partial<State>): void;
  nextSeed(): void;
  isEditing: boolean;
  edit(): void;
  editButton: preact.RefObject<HTMLButtonElement | null>;
  children?: preact.ComponentChildren;
}

export function Controls({ info, state, size, options, go, nextSeed, isEditing, edit, editButton, children }: ControlsProps) {
  const restart = { frame: 0, otherFrame: null };
  const resample = (change: Partial<State>) => go({ ...change, ...restart, problem: null });
  return (
    <div class="controls">
      <AlgorithmSelect info={info} label="Algorithm" value={state.algorithm} change={(algorithm) => go({ algorithm, options: {}, problem: null, compare: null, ...restart })} />
      <label>
        <span>size</span>
        <NumberInput value={size} min={1} max={info.max_size} limit={nodeLimit} change={(size) => resample({ size })} />
      </label>
      <label>
        <span>seed</span>
        <NumberInput value={state.seed} min={0} max={MAX_SEED} limit={seedLimit} change={(seed) => resample({ seed })} />
      </label>
      <button type="button" onClick={nextSeed} title="Another problem (r)">
        <Icon name="dice" /> Next
      </button>
      {options.length > 0 && <Options options={options} values={state.options} apply={(options) => resample({ options })} />}
      <button type="button" ref={editButton} aria-pressed={isEditing} onClick={edit}>
        <Icon name="edit" /> Edit
      </button>
      {state.problem && <span class="tag">own problem</span>}
      <label>
        <span>beside</span>
        <select value={state.compare ?? ""} onChange={(event) => go({ compare: event.currentTarget.value || null, ...restart })}>
          <option value="">nothing</option>
          {comparable(info, state.algorithm).map((one) => (
            <option key={one.algorithm} value={one.algorithm}>
              {one.algorithm}
            </option>
          ))}
        </select>
      </label>
      {state.compare && (
        <button type="button" aria-pressed={state.otherFrame === null} title="Step together or apart (l)"
          onClick={() => go({ otherFrame: state.otherFrame === null ? state.frame : null })}>
          <Icon name="link" /> together
        </button>
      )}
      <span class="spacer" />
      {children}
    </div>
  );
}

/** Algorithms whose problems have a field of the same name: they can be run on the same problem. */
function comparable(info: ServerInfo, algorithm: string) {
  const fields = (name: string) => info.algorithms.find((one) => one.algorithm === name)?.fields ?? [];
  const own = fields(algorithm);
  return info.algorithms.filter((one) => one.algorithm !== algorithm && one.fields.some((field) => own.includes(field)));
}

export function AlgorithmSelect({ info, label, value, change }: { info: ServerInfo; label: string; value: string; change(name: string): void }) {
  const families = [...new Set(info.algorithms.map((one) => one.family))];
  return (
    <label class="algorithm">
      <span class="visually-hidden">{label}</span>
      <select value={value} onChange={(event) => change(event.currentTarget.value)}>
        {families.map((family) => (
          <optgroup key={family} label={family.replaceAll("_", " ")}>
            {info.algorithms.filter((one) => one.family === family).map((one) => (
              <option key={one.algorithm} value={one.algorithm}>
                {one.algorithm}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}

/** A limit in words, from `at most 8` or `at least 2`. */
type Limit = (bound: "at most" | "at least", count: number) => string;

export const nodeLimit: Limit = (bound, count) => `the explorer draws ${bound} ${plural(count, "node")}`;
export const seedLimit: Limit = (bound, count) => `seeds are ${bound} ${count}`;
export const sampleLimit: Limit = (bound, count) => `the explorer evaluates ${bound} ${plural(count, "sample")}`;

export interface NumberInputProps {
  value: number;
  min: number;
  max: number;
  limit: Limit;
  change(value: number): void;
}

/** The nearest number to a text that is allowed, and the limit if that is another one. What is no number leaves the value. */
export function bounded(text: string, { value, min, max, limit }: Omit<NumberInputProps, "change">): { allowed: number; note: string | null } {
  const wanted = text.trim() === "" ? NaN : Math.round(Number(text));
  if (!Number.isFinite(wanted)) {
    return { allowed: value, note: null };
  }
  const allowed = Math.min(Math.max(wanted, min), max);
  return { allowed, note: wanted > max ? limit("at most", max) : wanted < min ? limit("at least", min) : null };
}

export function NumberInput(props: NumberInputProps) {
  const { value, min, max, change } = props;
  // What is typed stays until it is committed, whatever is loaded in the meantime.
  const [draft, setDraft] = useState<string | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const commit = (text: string) => {
    const { allowed, note } = bounded(text, props);
    setDraft(null);
    setNote(note);
    if (allowed !== value) {
      change(allowed);
    }
  };
  return (
    <>
      <input type="number" inputMode="numeric" value={draft ?? String(value)} min={min} max={max} step={1}
        onInput={(event) => (setDraft(event.currentTarget.value), setNote(null))} onChange={(event) => commit(event.currentTarget.value)} onBlur={() => setDraft(null)} />
      <small class="limit" role="status">
        {note}
      </small>
    </>
  );
}

function Options({ options, values, apply }: { options: OptionInfo[]; values: Record<string, string>; apply(values: Record<string, string>): void }) {
  const [draft, setDraft] = useState(values);
  const count = Object.keys(values).length;
  const submit = (event: Event) => {
    event.preventDefault();
    const isChanged = ([name, value]: [string, string]) => value !== "" && value !== options.find((option) => option.name === name)?.value;
    apply(Object.fromEntries(Object.entries(draft).filter(isChanged)));
  };
  return (
    <Menu name="options" label={`Options${count > 0 ? ` (${count})` : ""}`}>
      {(close) => (
        <form class="menu-items" onSubmit={(event) => (submit(event), close())}>
          {options.map(({ name, value, description }) => (
            <label key={name} title={description}>
              <span>{name}</span>
              <input type="text" placeholder={value} value={draft[name] ?? ""} onInput={(event) => setDraft({ ...draft, [name]: event.currentTarget.value })} />
              <small>{description}</small>
            </label>
          ))}
          <button type="submit" class="primary">
            Apply
          </button>
        </form>
      )}
    </Menu>
  );
}
