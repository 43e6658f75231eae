// Axes of line charts.

/** Round numbers that cover a range: about `count` of them. */
export function ticks(from: number, to: number, count: number): number[] {
  const step = niceStep((to - from) / Math.max(count, 1));
  const list: number[] = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k++) {
    list.push(Number((k * step).toPrecision(12)));
  }
  return list;
}

/** 1, 2 or 5 times a power of ten, not less than the wanted step. */
export function niceStep(wanted: number): number {
  if (!(wanted > 0) || !Number.isFinite(wanted)) {
    return 1;
  }
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= wanted * (1 - 1e-9)) ?? 10);
}

/** Powers of ten that cover a range of positive numbers. */
export function powers(from: number, to: number): number[] {
  const [low, high] = [Math.floor(Math.log10(from)), Math.ceil(Math.log10(to))];
  return Array.from({ length: high - low + 1 }, (_, k) => 10 ** (low + k));
}

/** At most `count` of a list, evenly spread, with the first and the last. */
export function spread<T>(list: readonly T[], count: number): T[] {
  const step = Math.max(1, (list.length - 1) / Math.max(count - 1, 1));
  return Array.from({ length: Math.min(count, list.length) }, (_, k) => list[Math.round(k * step)] as T);
}

/** A path through points, and from nothing to the next where a value is missing. */
export function linePath(points: readonly (readonly [number, number])[], x: (value: number) => number, y: (value: number) => number): string {
  let [path, isOpen] = ["", false];
  for (const [px, py] of points) {
    const [at, height] = [x(px), y(py)];
    if (Number.isFinite(at) && Number.isFinite(height)) {
      path += `${isOpen ? "L" : "M"}${at.toFixed(1)} ${height.toFixed(1)}`;
      isOpen = true;
    } else {
      isOpen = false;
    }
  }
  return path;
}
