// Ways of edges between nodes: straight where that is clear of other nodes, otherwise bent around them.

import { controlPoint, distance, distanceFrom, onArc, type Point } from "./geometry.ts";

/** Pixels between an edge and a node that it passes. */
export const CLEARANCE = 4;
/** Points of an arc that are tested. */
const SAMPLES = 24;
/** Bends that are tried, in radii of a node; the smallest that is clear of all nodes is taken. */
const BENDS = [0.3, 0.6, 1, 1.5, 2, 2.6, 3.4, 4.4];

/** How far an edge is bent to the left of its direction. The two directions of an edge are one line. */
export type Routes = (from: number, to: number) => number;

/** `width` is the room that an edge needs on either side. */
export function routes(points: Point[], radius: number, width: (from: number, to: number) => number = () => 0): Routes {
  const known = new Map<number, number>();
  return (from, to) => {
    const [a, b] = from < to ? [from, to] : [to, from];
    const key = a * points.length + b;
    let bend = known.get(key);
    if (bend === undefined) {
      bend = route(points, a, b, radius, CLEARANCE + width(a, b));
      known.set(key, bend);
    }
    return from < to ? bend : -bend;
  };
}

function route(points: Point[], from: number, to: number, radius: number, free: number): number {
  const [a, b] = [points[from] as Point, points[to] as Point];
  const others = points.filter((_, node) => node !== from && node !== to);
  const straight = Math.min(Infinity, ...others.map((point) => distanceFrom(point, a, b)));
  const wanted = radius + free;
  let [best, most] = [0, straight];
  for (const bend of straight < wanted ? BENDS.flatMap((size) => [size * radius, -size * radius]) : []) {
    const free = clearance(a, b, bend, others);
    if (free > most + 1e-6) {
      [best, most] = [bend, free];
    }
    if (free >= wanted) {
      break;
    }
  }
  return best;
}

/** Distance of an arc from the center of the nearest of the given points. */
export function clearance(from: Point, to: Point, bend: number, others: Point[]): number {
  const control = controlPoint(from, to, bend);
  let least = Infinity;
  for (let k = 1; k < SAMPLES; k++) {
    const at = onArc(from, control, to, k / SAMPLES);
    for (const point of others) {
      least = Math.min(least, distance(at, point));
    }
  }
  return least;
}
