// Shortest paths in a graph without weights.

/** Numbers of edges on shortest paths. */
export function distances(near: number[][]): number[][] {
  return near.map((_, source) => {
    const found = near.map(() => Infinity);
    found[source] = 0;
    const queue = [source];
    for (let head = 0; head < queue.length; head++) {
      const node = queue[head] as number;
      for (const next of near[node] ?? []) {
        if (found[next] === Infinity) {
          found[next] = (found[node] as number) + 1;
          queue.push(next);
        }
      }
    }
    return found;
  });
}
