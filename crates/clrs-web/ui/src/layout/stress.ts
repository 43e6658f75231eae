// Stress majorization: distances in the plane approximate numbers of edges on shortest paths. Deterministic.

import { distances } from "./paths.ts";
import { between, distance, distanceFrom, nearestFraction, type Box, type Point } from "./geometry.ts";

const ITERATIONS = 150;
/** Iterations end when no node moves farther, in units of an edge: less than a pixel. */
const STILL = 0.003;
/** A node this near to an edge, in units of an edge, seems to lie on it. */
const NEAR = 0.2;
/** Larger graphs are too crowded for a search of nodes on edges. */
const MAX_EDGES = 200;

type Edge = readonly [number, number];

/** Positions in units of an edge. Components are laid out one by one and packed side by side. */
export function stress(near: number[][], aspect: number): Point[] {
  const lengths = distances(near);
  const points: Point[] = near.map(() => ({ x: 0, y: 0 }));
  const parts = components(lengths).map((nodes) => ({ nodes, points: layoutComponent(nodes, lengths, near) }));
  pack(parts, aspect);
  for (const part of parts) {
    part.nodes.forEach((node, index) => (points[node] = part.points[index] as Point));
  }
  return points;
}

function components(lengths: number[][]): number[][] {
  const seen = new Set<number>();
  const parts: number[][] = [];
  for (const [start, row] of lengths.entries()) {
    if (!seen.has(start)) {
      const nodes = row.flatMap((length, node) => (Number.isFinite(length) ? [node] : []));
      nodes.forEach((node) => seen.add(node));
      parts.push(nodes);
    }
  }
  return parts.sort((a, b) => b.length - a.length || (a[0] as number) - (b[0] as number));
}

function layoutComponent(nodes: number[], lengths: number[][], near: number[][]): Point[] {
  if (nodes.length === 1) {
    return [{ x: 0, y: 0 }];
  }
  const of = nodes.map((a) => nodes.map((b) => lengths[a]?.[b] as number));
  const index = new Map(nodes.map((node, k) => [node, k]));
  const edges = nodes.flatMap((node, a) =>
    (near[node] ?? []).flatMap((to) => ((index.get(to) as number) > a ? [[a, index.get(to) as number] as const] : [])),
  );
  // Descent finds the nearest minimum: of several starts, the one with the fewest crossings is kept.
  let [best, least] = [[] as Point[], Infinity];
  for (const stride of [1, 2, 3, 5].filter((stride) => gcd(stride, nodes.length) === 1)) {
    const points = majorize(of, stride);
    const cost = edges.length <= MAX_EDGES ? crossings(points, edges) + 2 * hidden(points, edges, NEAR) : 0;
    if (cost < least) {
      [best, least] = [points, cost];
    }
    if (least === 0) {
      break;
    }
  }
  return level(best);
}

function majorize(lengths: number[][], stride: number): Point[] {
  const n = lengths.length;
  // Plain arrays of numbers: a million small objects would keep the first picture waiting.
  const [xs, ys, flat] = [new Float64Array(n), new Float64Array(n), Float64Array.from(lengths.flat())];
  for (let k = 0; k < n; k++) {
    const angle = (2 * Math.PI * ((k * stride) % n)) / n;
    // Not exactly a circle: symmetric starts are saddle points.
    const radius = n / 4 + 0.01 * ((k * 7) % 5);
    xs[k] = radius * Math.cos(angle);
    ys[k] = radius * Math.sin(angle);
  }
  let moved = Infinity;
  for (let iteration = 0; iteration < ITERATIONS && moved > STILL; iteration++) {
    moved = 0;
    for (let a = 0; a < n; a++) {
      const [ownX, ownY] = [xs[a] as number, ys[a] as number];
      let x = 0;
      let y = 0;
      let total = 0;
      for (let b = 0; b < n; b++) {
        if (a === b) {
          continue;
        }
        const dx = ownX - (xs[b] as number);
        const dy = ownY - (ys[b] as number);
        const length = flat[a * n + b] as number;
        const weight = 1 / (length * length);
        const factor = length / Math.max(Math.sqrt(dx * dx + dy * dy), 1e-6);
        x += weight * ((xs[b] as number) + dx * factor);
        y += weight * ((ys[b] as number) + dy * factor);
        total += weight;
      }
      xs[a] = x / total;
      ys[a] = y / total;
      moved = Math.max(moved, Math.abs(x / total - ownX), Math.abs(y / total - ownY));
    }
  }
  return Array.from(xs, (x, k) => ({ x, y: ys[k] as number }));
}

function crossings(points: Point[], edges: Edge[]): number {
  let count = 0;
  for (let i = 0; i < edges.length; i++) {
    for (let j = 0; j < i; j++) {
      const [a, b] = edges[i] as Edge;
      const [c, d] = edges[j] as Edge;
      if (a !== c && a !== d && b !== c && b !== d && cross(points, a, b, c, d)) {
        count += 1;
      }
    }
  }
  return count;
}

/** Number of nodes that lie on an edge of others. */
function hidden(points: Point[], edges: Edge[], near: number): number {
  let count = 0;
  for (const [a, b] of edges) {
    const [p, q] = [points[a] as Point, points[b] as Point];
    points.forEach((point, node) => {
      count += node !== a && node !== b && distanceFrom(point, p, q) < near ? 1 : 0;
    });
  }
  return count;
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

function cross(points: Point[], a: number, b: number, c: number, d: number): boolean {
  const side = (p: number, q: number, r: number) => {
    const [u, v, w] = [points[p], points[q], points[r]] as [Point, Point, Point];
    return Math.sign((v.x - u.x) * (w.y - u.y) - (v.y - u.y) * (w.x - u.x));
  };
  return side(a, b, c) !== side(a, b, d) && side(c, d, a) !== side(c, d, b);
}

/** Turns points so that they are widest horizontally, with the first of them on the left. */
function level(points: Point[]): Point[] {
  const center = mean(points);
  let [xx, xy, yy] = [0, 0, 0];
  for (const point of points) {
    const [dx, dy] = [point.x - center.x, point.y - center.y];
    [xx, xy, yy] = [xx + dx * dx, xy + dx * dy, yy + dy * dy];
  }
  const angle = -0.5 * Math.atan2(2 * xy, xx - yy);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const turned = points.map(({ x, y }) => ({
    x: (x - center.x) * cos - (y - center.y) * sin,
    y: (x - center.x) * sin + (y - center.y) * cos,
  }));
  const flip = (turned[0]?.x ?? 0) > 0 ? -1 : 1;
  return turned.map(({ x, y }) => ({ x: x * flip, y: y * flip }));
}

function mean(points: Point[]): Point {
  const sum = points.reduce((sum, point) => ({ x: sum.x + point.x, y: sum.y + point.y }), { x: 0, y: 0 });
  return { x: sum.x / points.length, y: sum.y / points.length };
}

/** Moves components next to each other, in rows of about the given aspect ratio. */
function pack(parts: { points: Point[] }[], aspect: number) {
  const GAP = 0.9;
  const boxes = parts.map(({ points }) => {
    const xs = points.map((point) => point.x);
    const ys = points.map((point) => point.y);
    const [left, top] = [Math.min(...xs), Math.min(...ys)];
    return { left, top, width: Math.max(...xs) - left + GAP, height: Math.max(...ys) - top + GAP };
  });
  const area = boxes.reduce((sum, box) => sum + box.width * box.height, 0);
  const widest = Math.max(Math.sqrt(area * aspect) * 1.1, ...boxes.map((box) => box.width));
  let [x, y, height] = [0, 0, 0];
  for (const [index, part] of parts.entries()) {
    const box = boxes[index] as (typeof boxes)[number];
    if (x > 0 && x + box.width > widest + 1e-9) {
      [x, y, height] = [0, y + height, 0];
    }
    part.points = part.points.map((point) => ({ x: point.x - box.left + x, y: point.y - box.top + y }));
    x += box.width;
    height = Math.max(height, box.height);
  }
}

/**
 * Pushes points apart that are nearer than `least`, and away from edges of others that are nearer than `free`, within the box. Of all
 * rounds, the one with the fewest points on edges is kept.
 */
export function spread(points: Point[], near: number[][], box: Box, least: number, free: number): Point[] {
  const moved = points.map((point) => ({ ...point }));
  const edges = near.flatMap((list, a): Edge[] => list.filter((b) => b > a).map((b) => [a, b]));
  let [best, fewest] = [moved, Infinity];
  for (let round = 0; round < 60; round++) {
    let isDone = !(edges.length <= MAX_EDGES && pushFromEdges(moved, edges, free));
    for (let a = 0; a < moved.length; a++) {
      for (let b = 0; b < a; b++) {
        const [p, q] = [moved[a] as Point, moved[b] as Point];
        const apart = distance(p, q);
        if (apart < least) {
          isDone = false;
          const [ux, uy] = apart > 1e-6 ? [(p.x - q.x) / apart, (p.y - q.y) / apart] : [Math.cos(a), Math.sin(a)];
          const push = (least - apart) / 2;
          p.x += ux * push;
          p.y += uy * push;
          q.x -= ux * push;
          q.y -= uy * push;
        }
      }
    }
    for (const point of moved) {
      point.x = Math.min(Math.max(point.x, box.x), box.x + box.width);
      point.y = Math.min(Math.max(point.y, box.y), box.y + box.height);
    }
    const count = edges.length <= MAX_EDGES ? hidden(moved, edges, free) : 0;
    if (count < fewest) {
      [best, fewest] = [moved.map((point) => ({ ...point })), count];
    }
    if (isDone) {
      break;
    }
  }
  return fewest === 0 ? moved : best;
}

/** Moves points away from edges of others, and the edges away from them; returns whether any was too near. */
function pushFromEdges(points: Point[], edges: Edge[], free: number): boolean {
  let isAny = false;
  for (const [a, b] of edges) {
    const [p, q] = [points[a] as Point, points[b] as Point];
    points.forEach((point, node) => {
      if (node === a || node === b || distanceFrom(point, p, q) >= free) {
        return;
      }
      isAny = true;
      const fraction = nearestFraction(point, p, q);
      const foot = between(p, q, fraction);
      const apart = distance(point, foot);
      const length = Math.max(distance(p, q), 1e-6);
      const [ux, uy] = apart > 1e-6 ? [(point.x - foot.x) / apart, (point.y - foot.y) / apart] : [(p.y - q.y) / length, (q.x - p.x) / length];
      const push = (free - apart) / 2;
      point.x += ux * push;
      point.y += uy * push;
      for (const [end, share] of [[p, 1 - fraction], [q, fraction]] as const) {
        end.x -= ux * push * share;
        end.y -= uy * push * share;
      }
    });
  }
  return isAny;
}
