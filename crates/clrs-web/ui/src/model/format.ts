// Numbers as text.

import { textWidth } from "../layout/geometry.ts";

const MINUS = "\u2212";

/** A number in three or four characters, for cells: `.42`, `.004`, `1.5`, `12`, `−.3`, `2e5`. */
export function short(x: number): string {
  return compact(x, 2, 2);
}

/** A number as `short` has it, or with a third digit if it has one and that fits into a width: `1.03` is not `1.04`. */
export function precise(x: number, width: number, size: number): string {
  const text = compact(x, 3, 2);
  return textWidth(text, size) <= width ? text : short(x);
}

/** A number in as many digits as fit into a width; a dot if none do. */
export function fitting(x: number, width: number, size: number): string {
  const texts = [compact(x, 2, 2), compact(x, 1, 1), Math.abs(x) < 0.005 ? ".00" : ""].filter(Boolean);
  return texts.find((text) => textWidth(text, size) <= width) ?? "\u00b7";
}

/** A number with about four digits, for lists and tooltips. */
export function long(x: number): string {
  return compact(x, 4, 4);
}

/** `digits` significant digits, and at least `decimals` decimals of numbers below 1; without the zero before the point. */
function compact(x: number, digits: number, decimals: number): string {
  if (!Number.isFinite(x)) {
    return Number.isNaN(x) ? "\u2013" : x > 0 ? "\u221e" : `${MINUS}\u221e`;
  }
  const size = Math.abs(x);
  return x < 0 ? MINUS + positive(size, digits, decimals) : positive(size, digits, decimals);
}

function positive(x: number, digits: number, decimals: number): string {
  if (x === 0) {
    return "0";
  }
  const exponent = Math.floor(Math.log10(x) + 1e-12);
  if (exponent >= digits + 2 || exponent < -decimals - 1) {
    return x.toExponential(0).replace("e+", "e").replace("-", MINUS);
  }
  const shown = exponent < -decimals ? -exponent : exponent < 0 ? decimals : Math.max(digits - 1 - exponent, 0);
  const text = x.toFixed(shown);
  return (text.includes(".") ? text.replace(/\.?0+$/, "") : text).replace(/^0\./, ".");
}

/** `1 node`, `2 nodes`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function percent(x: number): string {
  return Number.isFinite(x) ? `${(100 * x).toFixed(1)}%` : "\u2013";
}
