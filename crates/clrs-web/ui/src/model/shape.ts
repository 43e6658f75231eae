// Shapes of values over a whole run: which pictures can show them.

import type { Series } from "./recording.ts";
import type { Row } from "./trace.ts";

/** Whether every row has a property. Rows that are the same array are tested once. */
export function always(series: Series, holds: (row: Row) => boolean): boolean {
  return series.rows.every((row, index) => row === series.rows[index - 1] || holds(row));
}

export function isConstant(series: Series): boolean {
  const first = series.rows[0];
  return always(series, (row) => row.every((value, cell) => value === first?.[cell]));
}

/** Nodes point to the node before them, or to themselves, and that never changes. */
export function isFixedOrder(series: Series): boolean {
  return always(series, (row) => row.every((to, node) => to === node || to === node - 1)) && isConstant(series);
}

/** The nodes of a linear order of predecessors, first to last; null if the pointers form none. */
export function linearOrder(row: Row): number[] | null {
  const next = new Map<number, number>();
  let first: number | undefined;
  for (const [node, to] of row.entries()) {
    if (to === node ? first !== undefined : next.has(to)) {
      return null;
    }
    if (to === node) {
      first = node;
    } else {
      next.set(to, node);
    }
  }
  const order: number[] = [];
  for (let node = first; node !== undefined && order.length < row.length; node = next.get(node)) {
    order.push(node);
  }
  return order.length === row.length ? order : null;
}

/** No node is pointed to twice: the pointers are linked lists. */
export function isChains(row: Row): boolean {
  const targets = new Set<number>();
  return row.every((to, node) => to === node || (!targets.has(to) && targets.add(to)));
}

/** Linked lists of at least two nodes, each from its head (to which none points) along the pointers. */
export function chains(row: Row): number[][] {
  const targets = new Set(row.filter((to, node) => to !== node));
  const heads = row.flatMap((to, node) => (to !== node && !targets.has(node) ? [node] : []));
  return heads.map((head) => {
    const list = [head];
    for (let node = head; row[node] !== node && list.length <= row.length; ) {
      node = row[node] as number;
      list.push(node);
    }
    return list;
  });
}

/** Every node points to the representative of its group. */
export function isGroups(row: Row): boolean {
  return row.every((to) => row[to] === to);
}

/** Whether a scalar counts positions: `k / m` for the nodes of every row of `m` nodes. */
export function isPositions(values: Row, rows: number[][]): boolean {
  return rows.every((nodes) => nodes.every((node, k) => Math.abs((values[node] ?? NaN) - k / nodes.length) < 1e-9));
}

/** Whether all pairs of a mask or scalar that are set are edges, in either direction. The diagonal does not count. */
export function isOnEdges(row: Row, nodes: number, edges: Row): boolean {
  for (let from = 0; from < nodes; from++) {
    for (let to = 0; to < nodes; to++) {
      const isSet = from !== to && (row[from * nodes + to] ?? 0) > 0;
      if (isSet && !edges[from * nodes + to] && !edges[to * nodes + from]) {
        return false;
      }
    }
  }
  return true;
}

/** Whether every node has a loop, as in an adjacency matrix. */
export function hasLoops(row: Row, nodes: number): boolean {
  return Array.from({ length: nodes }, (_, node) => row[node * nodes + node] === 1).every(Boolean);
}
