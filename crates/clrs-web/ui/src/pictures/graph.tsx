// A graph: nodes with their number and value, fills and rings for classes, edges with weights, pointers as arrows on the edges.

import type { Point } from "../layout/geometry.ts";
import type { Colored, Scene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { Arrows } from "./arrows.tsx";
import { baseEdges, edgeCurve, graphGeometry, hasEdge, type BaseEdges, type GraphGeometry } from "./graphgeometry.ts";
import { classes, crossMark, curve, curveTail, Keep, probes, type Curve } from "./marks.tsx";
import { NodeLabels, Nodes } from "./nodes.tsx";
import type { Panel } from "./panel.ts";
import { shownWeights, staticWeights, weightBox, Weights, type WeightLabel } from "./weights.tsx";

export function graphPanel(scene: Scene, width: number, height: number): Panel {
  const geometry = graphGeometry(scene, width, height);
  const labels = staticWeights(geometry);
  const draw = (view: View) => <GraphPicture geometry={geometry} view={view} labels={labels} />;
  return { name: "graph", width, height: geometry.bounds.height, draw };
}

function GraphPicture({ geometry, view, labels }: { geometry: GraphGeometry; view: View; labels: WeightLabel[] | null }) {
  const { scene } = geometry;
  const weights = labels ?? shownWeights(geometry, view);
  return (
    <g class="graph">
      {scene.liveEdges ? (
        <LiveEdges geometry={geometry} view={view} />
      ) : (
        <Keep by={geometry}>
          <Edges base={geometry.base} probe={probes(scene.adjacency, scene.weights)} />
        </Keep>
      )}
      {scene.edgeMarks.map((mark) => (
        <MarkedEdges key={mark.series.name} geometry={geometry} view={view} mark={mark} />
      ))}
      {scene.arrows.map((pointer) => (
        <Arrows key={pointer.series.name} view={view} series={pointer.series} class={`arrows c-${pointer.color}`} path={pointerPath(geometry)}
          missing={(node) => missingPointer(geometry, node)} />
      ))}
      <Weights of={scene.weights} labels={weights} />
      <Nodes geometry={geometry} view={view} />
      <NodeLabels scene={scene} view={view} points={geometry.points} radius={geometry.radius + (scene.ring || scene.groups ? 4 : 0)}
        bounds={geometry.bounds} obstacles={weights.map(weightBox)} />
    </g>
  );
}

function Edges({ base, probe }: { base: BaseEdges; probe: string }) {
  return (
    <g class={classes("edges", base.count > 1000 ? "crowd" : base.count > 300 ? "many" : base.count > 60 && "some")} data-probe={probe}>
      <path class="line" d={base.lines} />
      <path class="head" d={base.heads} />
    </g>
  );
}

/** Edges that change from step to step, with the inputs' faint below them. */
function LiveEdges({ geometry, view }: { geometry: GraphGeometry; view: View }) {
  const { scene } = geometry;
  const row = view.row(scene.liveEdges);
  return (
    <>
      <g class="edges ghost" data-probe={probes(scene.adjacency, scene.weights)}>
        <path class="line" d={geometry.base.lines} />
      </g>
      {row && <Edges base={baseEdges(geometry, row)} probe={probes(scene.liveEdges, ...scene.edgeScalars)} />}
    </>
  );
}

function MarkedEdges({ geometry, view, mark }: { geometry: GraphGeometry; view: View; mark: Colored }) {
  const { nodes } = geometry.scene;
  const row = view.row(mark.series);
  const [changed, wrong] = [view.changed(mark.series), view.wrong(mark.series)];
  const cells: number[] = [];
  row?.forEach((value, cell) => {
    const [from, to] = [Math.floor(cell / nodes), cell % nodes];
    const twin = to * nodes + from;
    const isShown = from !== to && (value === 1 || wrong.has(cell));
    // Both directions of an undirected edge are one line.
    if (isShown && !(row[twin] === 1 && from > to)) {
      cells.push(cell);
    }
  });
  return (
    <g class={classes("edge-marks", `c-${mark.color}`, geometry.radius < 9 && "thin")} data-probe={probes(mark.series)}>
      {cells.map((cell) => {
        const [from, to] = [Math.floor(cell / nodes), cell % nodes];
        const path = edgeCurve(geometry, from, to, 0);
        const isNew = changed.has(cell) || (changed.has(to * nodes + from) && row?.[to * nodes + from] === 1);
        return (
          <g key={cell} class={classes(isNew && "changed", wrong.has(cell) && "wrong", row?.[cell] !== 1 && "missing")} data-cell={cell}>
            {isNew && !wrong.has(cell) && <path class="halo" d={path.line} />}
            <path class="line" d={path.line} />
            {wrong.has(cell) && <path class="cross" d={crossMark(path.middle.x, path.middle.y, 9)} />}
          </g>
        );
      })}
    </g>
  );
}

/** Pointers lead back along the edge that they stand for: from a node to its predecessor. Its own head is covered. */
function pointerPath({ graph, points, radius, bend }: GraphGeometry): (node: number, to: number) => Curve {
  const head = Math.min(11, Math.max(6, radius * 0.62));
  return (node, to) => {
    const [a, b] = [points[node] as Point, points[to] as Point];
    const isBack = hasEdge(graph, to, node);
    const by = isBack ? -bend(to, node) : bend(node, to);
    const path = curve(a, b, [radius, radius + 1.5], by, head);
    return graph.isDirected && isBack ? { ...path, cover: curveTail(a, b, radius, by, 11) } : path;
  };
}

function missingPointer({ points, radius }: GraphGeometry, node: number): Point {
  const { x, y } = points[node] as Point;
  return { x: x + radius * 0.9, y: y - radius * 0.9 };
}
