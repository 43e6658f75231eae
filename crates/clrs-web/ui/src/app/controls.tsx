// What to show: algorithm, size, seed, options of the distribution, a second algorithm.

import { useState } from "preact/hooks";
import type { OptionInfo, ServerInfo } from "./data.ts";
import { Icon } from "./icons.tsx";
import type { State } from "./state.ts";

export interface ControlsProps {
  info: ServerInfo;
  state: State;
  options: OptionInfo[];
  go(change: Partial<State>): void;
  nextSeed(): void;
  isEditing: boolean;
  edit(): void;
  children?: preact.ComponentChildren;
}

export function Controls({ info, state, options, go, nextSeed, isEditing, edit, children }: ControlsProps) {
  const restart = { frame: 0, otherFrame: null };
  const resample = (change: Partial<State>) => go({ ...change, ...restart, problem: null });
  return (
    <div class="controls">
      <AlgorithmSelect info={info} label="Algorithm" value={state.algorithm} change={(algorithm) => go({ algorithm, options: {}, problem: null, compare: null, ...restart })} />
      <label>
        <span>size</span>
        <NumberInput value={state.size} min={1} max={info.max_size} change={(size) => resample({ size })} />
      </label>
      <label>
        <span>seed</span>
        <NumberInput value={state.seed} min={0} max={4294967295} change={(seed) => resample({ seed })} />
      </label>
      <button type="button" onClick={nextSeed} title="Another problem (r)">
        <Icon name="dice" /> Next
      </button>
      {options.length > 0 && <Options options={options} values={state.options} apply={(options) => resample({ options })} />}
      <button type="button" aria-pressed={isEditing} onClick={edit}>
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

export function NumberInput({ value, min, max, change }: { value: number; min: number; max: number; change(value: number): void }) {
  return (
    <input type="number" inputMode="numeric" value={value} min={min} max={max} step={1}
      onChange={(event) => {
        const wanted = Math.round(Number(event.currentTarget.value));
        const allowed = Number.isFinite(wanted) ? Math.min(Math.max(wanted, min), max) : value;
        event.currentTarget.value = String(allowed);
        if (allowed !== value) {
          change(allowed);
        }
      }} />
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
    <details class="menu options">
      <summary>Options{count > 0 ? ` (${count})` : ""}</summary>
      <form class="menu-items" onSubmit={submit}>
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
    </details>
  );
}
