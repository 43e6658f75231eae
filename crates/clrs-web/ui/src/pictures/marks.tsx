// Marks that pictures share. Colors and strokes are classes of picture.css.

import { Component, type ComponentChildren } from "preact";
import { between, controlPoint, distance, onArc, round, textWidth, type Point } from "../layout/geometry.ts";
import type { Color } from "../model/palette.ts";
import type { Series } from "../model/recording.ts";

/** Names of the probes of a series, for `data-probe`: tests and tooltips find marks by them. */
export function probes(...series: (Series | null)[]): string {
  return series.flatMap((one) => one?.probes.map((probe) => probe.name) ?? []).join(" ");
}

export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}

/** Draws its content again only if `by` changes: most marks are the same in the next frame. */
export class Keep extends Component<{ by: unknown; children: ComponentChildren }> {
  override shouldComponentUpdate(next: Readonly<{ by: unknown }>): boolean {
    return next.by !== this.props.by;
  }

  override render(): ComponentChildren {
    return this.props.children;
  }
}

/** A triangle that points at `tip`. */
export function arrowHead(tip: Point, from: Point, size: number): string {
  const length = Math.max(distance(tip, from), 1e-6);
  const [ux, uy] = [(tip.x - from.x) / length, (tip.y - from.y) / length];
  const base = { x: tip.x - ux * size, y: tip.y - uy * size };
  const half = size * 0.45;
  const corner = (side: number) => `${round(base.x - uy * half * side)} ${round(base.y + ux * half * side)}`;
  return `M${round(tip.x)} ${round(tip.y)}L${corner(1)}L${corner(-1)}Z`;
}

export interface Curve {
  line: string;
  head: string;
  /** Where a label goes. */
  middle: Point;
  /** What is covered before the arrow is drawn: the head of an edge in the opposite direction. */
  cover?: string;
}

/** An arrow from the rim of one circle to the rim of another, bent to the left of its direction. */
export function curve(from: Point, to: Point, rims: [number, number], bend: number, head: number): Curve {
  const control = controlPoint(from, to, bend);
  const start = towards(from, control, rims[0]);
  const tip = towards(to, control, rims[1]);
  const end = towards(tip, control, head * 0.8);
  const line =
    bend === 0
      ? `M${round(start.x)} ${round(start.y)}L${round(end.x)} ${round(end.y)}`
      : `M${round(start.x)} ${round(start.y)}Q${round(control.x)} ${round(control.y)} ${round(end.x)} ${round(end.y)}`;
  return { line, head: head > 0 ? arrowHead(tip, control, head) : "", middle: onArc(start, control, tip, 0.5) };
}

/** The first `length` pixels of such an arrow. */
export function curveTail(from: Point, to: Point, rim: number, bend: number, length: number): string {
  const control = controlPoint(from, to, bend);
  const [start, end] = [towards(from, control, rim), towards(from, control, rim + length)];
  return `M${round(start.x)} ${round(start.y)}L${round(end.x)} ${round(end.y)}`;
}

/** The point that is `by` pixels from `a` in the direction of `b`. */
function towards(a: Point, b: Point, by: number): Point {
  return between(a, b, by / Math.max(distance(a, b), 1e-6));
}

/** A label on a colored ground. */
export function Pill(props: { x: number; y: number; text: string; color: Color; isNew?: boolean; stage?: string }) {
  const width = pillWidth(props.text);
  return (
    <g class={classes("pill", `c-${props.color}`, props.isNew && "changed", props.stage)}>
      <rect x={round(props.x - width / 2)} y={round(props.y - 8)} width={width} height={16} rx={8} />
      <text x={round(props.x)} y={round(props.y + 3.6)}>
        {props.text}
      </text>
    </g>
  );
}

export function pillWidth(text: string): number {
  return Math.max(18, Math.ceil(textWidth(text, 11)) + 10);
}

/** The mark of a change in a cell: a folded corner at its top left. */
export function notch(size: number): string {
  return `M0 0h${round(size)}l${round(-size)} ${round(size)}z`;
}

/** The mark of an error: a cross. */
export function crossMark(x: number, y: number, size: number): string {
  const half = size / 2;
  return `M${round(x - half)} ${round(y - half)}l${size} ${size}m0 ${-size}l${-size} ${size}`;
}

export function checkMark(x: number, y: number, size: number): string {
  return `M${round(x - size / 2)} ${round(y)}l${round(size * 0.35)} ${round(size * 0.35)}l${round(size * 0.65)} ${round(-size * 0.75)}`;
}
