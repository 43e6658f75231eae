// Labels around the nodes of a picture, and weights on edges: where they cover nothing else.

import { between, centered, distance, overlaps, touches, type Box, type Point } from "./geometry.ts";

export interface Callout {
  node: number;
  /** Center of the label. */
  at: Point;
}

export interface CalloutRequest {
  node: number;
  width: number;
  height: number;
}

/** Directions, in sixteenths of a turn from the first. */
const STEPS = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6, 7, -7, 8];

/**
 * Places labels next to nodes, inside `bounds` and beside `obstacles`. Directions away from the center of all nodes are tried first; where all are
 * taken, the one with the least overlap is used.
 */
export function placeCallouts(points: Point[], radius: number, requests: CalloutRequest[], bounds: Box, obstacles: Box[] = []): Callout[] {
  const center = { x: bounds.x + bounds.width / 2, y: bounds.y + bounds.height / 2 };
  const placed: Box[] = [...obstacles];
  return requests.map(({ node, width, height }) => {
    const point = points[node] as Point;
    const outward = Math.atan2(point.y - center.y, point.x - center.x);
    let [best, least] = [point, Infinity];
    for (const far of [0, 1, 2, 3, 4, 5, 6]) {
      for (const step of STEPS) {
        const angle = outward + (step * Math.PI) / 8;
        const at = beside(point, angle, radius + 5 + far * (height + 2), width, height);
        const effort = 0.02 * Math.abs(step) + 0.08 * far;
        const cost = effort < least ? effort + overlap(centered(at, width, height), point, node, points, radius, placed, bounds) : Infinity;
        if (cost < least) {
          [best, least] = [at, cost];
        }
      }
    }
    placed.push(centered(best, width, height));
    return { node, at: best };
  });
}

/** The center of a box that touches a circle in a direction. */
function beside(center: Point, angle: number, radius: number, width: number, height: number): Point {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const reach = Math.min(width / 2 / Math.max(Math.abs(cos), 1e-6), height / 2 / Math.max(Math.abs(sin), 1e-6));
  // Rounded boxes need less room at their corners.
  const far = radius + Math.min(reach, width / 2);
  return { x: center.x + cos * far, y: center.y + sin * far };
}

function overlap(box: Box, own: Point, node: number, points: Point[], radius: number, placed: Box[], bounds: Box): number {
  let cost = 0;
  const isOut = box.x < bounds.x || box.y < bounds.y || box.x + box.width > bounds.x + bounds.width || box.y + box.height > bounds.y + bounds.height;
  cost += isOut ? 3 : 0;
  cost += touches(box, own, radius + 1) ? 2 : 0;
  points.forEach((point, other) => (cost += other !== node && touches(box, point, radius + 2) ? 1.5 : 0));
  placed.forEach((other) => (cost += overlaps(box, other, 2) ? 2 : 0));
  return cost;
}

export interface EdgeLabel {
  from: Point;
  to: Point;
  width: number;
  /** Where on the edge it would be without other labels: a point for curved edges. */
  middle?: Point;
}

const FRACTIONS = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73];

/** Places labels on edges; null where all places are taken. */
export function placeEdgeLabels(labels: EdgeLabel[], height: number, points: Point[], radius: number, taken: Box[] = []): (Point | null)[] {
  const placed: Box[] = [...taken];
  return labels.map(({ from, to, width, middle }) => {
    if (distance(from, to) < 2 * radius + width * 0.8) {
      return null;
    }
    const shift = middle ? { x: middle.x - (from.x + to.x) / 2, y: middle.y - (from.y + to.y) / 2 } : { x: 0, y: 0 };
    for (const fraction of FRACTIONS) {
      const on = between(from, to, fraction);
      const at = { x: on.x + shift.x, y: on.y + shift.y };
      const box = centered(at, width, height);
      if (!placed.some((other) => overlaps(box, other, 1)) && !points.some((point) => touches(box, point, radius + 1))) {
        placed.push(box);
        return at;
      }
    }
    return null;
  });
}
