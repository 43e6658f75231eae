// Pointers of nodes to nodes, as arrows: what changed has a halo, what is wrong is dashed and crossed out instead.

import type { Point } from "../layout/geometry.ts";
import type { Series } from "../model/recording.ts";
import type { View } from "../model/view.ts";
import { classes, crossMark, probes, type Curve } from "./marks.tsx";

export interface ArrowsProps {
  view: View;
  series: Series;
  /** CSS classes of all arrows. */
  class: string;
  /** The arrow of a pointer. */
  path(from: number, to: number): Curve;
  /** Where a node is crossed out that wrongly points to itself. */
  missing(node: number): Point;
  /** Size of crosses. */
  cross?: number;
}

export function Arrows({ view, series, class: name, path, missing, cross = 9 }: ArrowsProps) {
  const [changed, wrong] = [view.changed(series), view.wrong(series)];
  return (
    <g class={name} data-probe={probes(series)}>
      {view.row(series)?.map((to, node) => {
        const isWrong = wrong.has(node);
        if (to === node) {
          const { x, y } = missing(node);
          return isWrong && <path key={node} class="cross" d={crossMark(x, y, cross)} />;
        }
        const { line, head, middle, cover } = path(node, to);
        return (
          <g key={node} class={classes("arrow", changed.has(node) && "changed", isWrong && "wrong")} data-cell={node}>
            {cover && <path class="cover" d={cover} />}
            {changed.has(node) && !isWrong && <path class="halo" d={line} />}
            <path class="line" d={line} />
            <path class="head" d={head} />
            {isWrong && <path class="cross" d={crossMark(middle.x, middle.y, cross)} />}
          </g>
        );
      })}
    </g>
  );
}
