// Labels around the nodes of a picture, and weights on edges: where they cover nothing else.

import { centered, controlPoint, distance, onArc, overlaps, touches, type Box, type Point } from "./geometry.ts";

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
        const at = atAngle(point, angle, radius + 5 + far * (height + 2), width, height);
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
function atAngle(center: Point, angle: number, radius: number, width: number, height: number): Point {
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

/** Places small boxes right beside nodes, away from other nodes and boxes; null where they do not fit. */
export function placeBeside(points: Point[], radius: number, sizes: { width: number; height: number }[], bounds: Box): (Point | null)[] {
  const placed: Box[] = [];
  return points.map((point, node) => {
    const { width, height } = sizes[node] as { width: number; height: number };
    for (const step of STEPS) {
      const at = atAngle(point, -Math.PI / 2 + (step * Math.PI) / 8, radius + 1, width, height);
      const box = centered(at, width, height);
      if (overlap(box, point, node, points, radius - 1, placed, bounds) === 0) {
        placed.push(box);
        return at;
      }
    }
    return null;
  });
}

export interface EdgeLabel {
  from: Point;
  to: Point;
  /** How far the edge is bent. */
  bend: number;
  width: number;
}

const FRACTIONS = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73];
/** Pixels of an edge that a label on it leaves: room for the head of an arrow, and a line on both sides. */
const VISIBLE = 28;
/** Points of an edge that are tested for a label beside another one. */
const SAMPLES = 16;

/** Places labels on edges, and beside those that they would hide; null where all places are taken. */
export function placeEdgeLabels(labels: EdgeLabel[], height: number, points: Point[], radius: number, taken: Box[] = []): (Point | null)[] {
  const placed: Box[] = [...taken];
  return labels.map(({ from, to, bend, width }) => {
    if (distance(from, to) < 2 * radius + width * 0.8) {
      return null;
    }
    const control = controlPoint(from, to, bend);
    const on = FRACTIONS.map((fraction) => onArc(from, control, to, fraction));
    const isFree = (box: Box) => !placed.some((other) => overlaps(box, other, 1)) && !points.some((point) => touches(box, point, radius + 1));
    const isShort = distance(from, to) - 2 * radius - lengthInside(from, to, width, height) < VISIBLE;
    const free = (isShort ? beside(on, from, to, width, height) : []).filter((at) => isFree(centered(at, width, height)));
    const at = free.find((one) => !labels.some((edge) => passes(edge, centered(one, width, height)))) ?? on.find((one) => isFree(centered(one, width, height)));
    if (at) {
      placed.push(centered(at, width, height));
    }
    return at ?? null;
  });
}

/** Length of a line inside a box around one of its points. */
function lengthInside(from: Point, to: Point, width: number, height: number): number {
  const length = Math.max(distance(from, to), 1e-6);
  const [cos, sin] = [Math.abs(to.x - from.x) / length, Math.abs(to.y - from.y) / length];
  return Math.min(width / Math.max(cos, 1e-6), height / Math.max(sin, 1e-6));
}

/** Centers of boxes that touch a line next to some of its points, on either side. */
function beside(on: Point[], from: Point, to: Point, width: number, height: number): Point[] {
  const length = Math.max(distance(from, to), 1e-6);
  const [nx, ny] = [(to.y - from.y) / length, (from.x - to.x) / length];
  const far = (Math.abs(nx) * width + Math.abs(ny) * height) / 2 + 1;
  return on.flatMap(({ x, y }) => [1, -1].map((side) => ({ x: x + side * far * nx, y: y + side * far * ny })));
}

/** Whether an edge passes through a box. */
function passes({ from, to, bend }: EdgeLabel, box: Box): boolean {
  const control = controlPoint(from, to, bend);
  return Array.from({ length: SAMPLES - 1 }, (_, k) => onArc(from, control, to, (k + 1) / SAMPLES)).some((at) => touches(box, at, 1));
}
