// Trees of parent pointers, layer by layer.

import type { Row } from "../model/trace.ts";

export interface ForestNode {
  node: number;
  depth: number;
  /** Horizontal place, in units of a leaf. */
  slot: number;
  parent: number | null;
}

export interface Forest {
  nodes: ForestNode[];
  /** Number of leaves. */
  slots: number;
  depth: number;
}

/**
 * Lays out the trees. Roots point to themselves. A cycle, which predictions can have, is cut at its smallest node. Children are
 * ordered by `rank`.
 */
export function layoutForest(parents: Row, rank: (node: number) => number = (node) => node): Forest {
  const children = new Map<number, number[]>();
  parents.forEach((parent, node) => {
    if (parent !== node) {
      children.set(parent, [...(children.get(parent) ?? []), node]);
    }
  });
  const placed = new Map<number, ForestNode>();
  let [slots, depth] = [0, 0];
  const visit = (node: number, parent: number | null, level: number): number => {
    const entry: ForestNode = { node, depth: level, slot: 0, parent };
    placed.set(node, entry);
    depth = Math.max(depth, level);
    const below = (children.get(node) ?? []).filter((child) => !placed.has(child)).sort((a, b) => rank(a) - rank(b));
    const places = below.map((child) => visit(child, node, level + 1));
    entry.slot = places.length > 0 ? ((places[0] as number) + (places[places.length - 1] as number)) / 2 : slots++;
    return entry.slot;
  };
  const roots = parents.flatMap((parent, node) => (parent === node ? [node] : [])).sort((a, b) => rank(a) - rank(b));
  roots.forEach((root) => visit(root, null, 0));
  parents.forEach((_, node) => {
    if (!placed.has(node)) {
      visit(node, null, 0);
    }
  });
  return { nodes: [...placed.values()].sort((a, b) => a.node - b.node), slots: Math.max(slots, 1), depth };
}
