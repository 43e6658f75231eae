// Points, boxes and text sizes. Coordinates are pixels of a picture at scale 1, y downwards.

export interface Point {
  x: number;
  y: number;
}

export interface Box extends Point {
  width: number;
  height: number;
}

export function overlaps(a: Box, b: Box, gap = 0): boolean {
  return (
    a.x < b.x + b.width + gap && b.x < a.x + a.width + gap && a.y < b.y + b.height + gap && b.y < a.y + a.height + gap
  );
}

/** Whether a box and a circle overlap. */
export function touches(box: Box, center: Point, radius: number): boolean {
  const dx = center.x - Math.min(Math.max(center.x, box.x), box.x + box.width);
  const dy = center.y - Math.min(Math.max(center.y, box.y), box.y + box.height);
  return dx * dx + dy * dy < radius * radius;
}

export function centered(center: Point, width: number, height: number): Box {
  return { x: center.x - width / 2, y: center.y - height / 2, width, height };
}

/** The point at a fraction of the way. */
export function between(a: Point, b: Point, fraction: number): Point {
  return { x: a.x + (b.x - a.x) * fraction, y: a.y + (b.y - a.y) * fraction };
}

export function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** The control point of an arc that is `bend` away from the middle of a line, to the left of its direction. */
export function controlPoint(from: Point, to: Point, bend: number): Point {
  const length = Math.max(distance(from, to), 1e-6);
  const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
  return { x: (from.x + to.x) / 2 + uy * bend * 2, y: (from.y + to.y) / 2 - ux * bend * 2 };
}

/** The point at a fraction of the way along an arc. */
export function onArc(from: Point, control: Point, to: Point, fraction: number): Point {
  return between(between(from, control, fraction), between(control, to, fraction), fraction);
}

/** The point of a segment nearest to another, as a fraction of the way; 0 and 1 are its ends. */
export function nearestFraction(point: Point, a: Point, b: Point): number {
  const dx = b.x - a.x;
  const dy = b.y - a.y;
  const along = ((point.x - a.x) * dx + (point.y - a.y) * dy) / Math.max(dx * dx + dy * dy, 1e-9);
  return Math.min(Math.max(along, 0), 1);
}

/** The distance of a point from a segment. Without objects: layouts ask for it many thousand times. */
export function distanceFrom(point: Point, a: Point, b: Point): number {
  const along = nearestFraction(point, a, b);
  const dx = a.x + (b.x - a.x) * along - point.x;
  const dy = a.y + (b.y - a.y) * along - point.y;
  return Math.sqrt(dx * dx + dy * dy);
}

/** An upper estimate of the width of a text; fonts differ, and layouts must not depend on the one that is installed. */
export function textWidth(text: string, size: number): number {
  let width = 0;
  for (const char of text) {
    width += ".,:;|il'".includes(char) ? 0.34 : "mwMW".includes(char) ? 0.95 : 0.64;
  }
  return width * size;
}

/** Coordinates in paths: a tenth of a pixel is enough. */
export function round(x: number): number {
  return Math.round(x * 10) / 10;
}

/** Scales and moves points into a box, and keeps their aspect ratio unless it is `stretched`. */
export function fit(points: Point[], box: Box, stretch = 1): Point[] {
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scales = [box.width / Math.max(right - left, 1e-9), box.height / Math.max(bottom - top, 1e-9)] as const;
  const scale = Math.min(...scales);
  const [sx, sy] = scales.map((own) => Math.min(own, scale * stretch)) as [number, number];
  const center = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  return points.map(({ x, y }) => ({
    x: center.x + (x - (left + right) / 2) * sx,
    y: center.y + (y - (top + bottom) / 2) * sy,
  }));
}
