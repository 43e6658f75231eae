// Problems as JSON: their parts in a form, and one algorithm's problem as that of another.

import type { Problem } from "./trace.ts";

/** How a field of a problem is edited. */
export type FieldKind = "number" | "text" | "list" | "matrix" | "json";

export function fieldKind(value: unknown): FieldKind {
  if (typeof value === "number") {
    return "number";
  }
  if (typeof value === "string") {
    return "text";
  }
  const isNumbers = (list: unknown): list is number[] => Array.isArray(list) && list.every((x) => typeof x === "number");
  if (isNumbers(value)) {
    return "list";
  }
  const isMatrix = Array.isArray(value) && value.length > 0 && value.every((row) => isNumbers(row) && row.length === (value[0] as number[]).length);
  return isMatrix ? "matrix" : "json";
}

/**
 * A problem in the form of another: fields of the same name are taken over, others keep the template's value. Null if the two have no
 * list, matrix or text in common.
 */
export function adapt(problem: Problem, template: Problem): Problem | null {
  const isShared = (name: string) => name in problem && fieldKind(problem[name]) !== "number" && fieldKind(problem[name]) === fieldKind(template[name]);
  if (!Object.keys(template).some(isShared)) {
    return null;
  }
  return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, name in problem ? problem[name] : value]));
}

/** A list of numbers as people write them; null if something in it is no number. */
export function parseNumbers(text: string): number[] | null {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  const numbers = words.map((word) => Number(word.replace("\u2212", "-")));
  return numbers.every(Number.isFinite) ? numbers : null;
}

/** Numbers in a list, rounded where they have many digits: what people edit needs no sixteen of them. */
export function formatNumbers(numbers: number[]): string {
  return numbers.map((x) => String(Number(x.toPrecision(6)))).join(", ");
}
