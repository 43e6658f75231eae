// Intervals on a common time axis, one row each, by their end.

import { round } from "../layout/geometry.ts";
import { short } from "../model/format.ts";
import type { Colored, Scene } from "../model/scene.ts";
import type { View } from "../model/view.ts";
import { checkMark, classes, crossMark, Keep, Pill, pillWidth, probes } from "./marks.tsx";
import type { Panel } from "./panel.ts";

export function intervalPanel(scene: Scene, width: number): Panel {
  const [starts = [], ends = []] = scene.values.map((series) => series.rows[0] ?? []);
  const order = Array.from({ length: scene.nodes }, (_, node) => node).sort((a, b) => (ends[a] ?? 0) - (ends[b] ?? 0) || a - b);
  const place = new Map(order.map((node, index) => [node, index]));
  const row = scene.nodes <= 10 ? 30 : scene.nodes <= 24 ? 22 : 10;
  const lanes = scene.cursors.map(({ series }) => pillWidth(series.name) + 8);
  const gutter = lanes.reduce((sum, lane) => sum + lane, 0) + 34;
  const finite = [...starts, ...ends].filter(Number.isFinite);
  const [from, to] = [Math.min(...finite, 0), Math.max(...finite, 1e-9)];
  const x = (time: number) => gutter + ((width - gutter - 12) * (time - from)) / (to - from || 1);
  const y = (node: number) => 6 + (place.get(node) ?? 0) * row;
  const height = 6 + scene.nodes * row + 26;
  const hasLabels = row >= 18;
  const draw = (view: View) => {
    const marks = view.row(scene.fill);
    const [changed, wrong] = [view.changed(scene.fill), view.wrong(scene.fill)];
    const chosen = order.filter((node) => marks?.[node] === 1);
    return (
      <g class="intervals">
        <Keep by={scene}>
          <TimeAxis from={from} to={to} x={x} bottom={height - 20} />
        </Keep>
        {chosen.map((node) => (
          <rect key={node} class="shadow" x={round(x(starts[node] ?? 0))} width={round(x(ends[node] ?? 0) - x(starts[node] ?? 0))} y={4} height={height - 26} />
        ))}
        <g data-probe={probes(...scene.axis, ...scene.values, scene.fill)}>
          {order.map((node) => {
            const [left, right] = [x(starts[node] ?? 0), x(ends[node] ?? 0)];
            const isOn = marks?.[node] === 1;
            const wide = right - left;
            return (
              <g key={node} class={classes("interval", isOn && "on", changed.has(node) && "changed", wrong.has(node) && "wrong")} data-cell={node}
                transform={`translate(0 ${y(node)})`}>
                {hasLabels && (
                  <text class="number" x={gutter - 12} y={row / 2 + 3.5}>
                    {node}
                  </text>
                )}
                <rect x={round(left)} y={row * 0.14} width={round(Math.max(wide, 1.5))} height={round(row * 0.72)} rx={Math.min(4, row / 4)} />
                {isOn && hasLabels && <path class="check" d={checkMark(left + wide / 2, row / 2, 9)} />}
                {changed.has(node) && <path class="diamond" d={`M${round(left)} ${row / 2 - 5}l5 5l-5 5l-5 -5z`} />}
                {wrong.has(node) && <path class="cross" d={crossMark(right + 8, row / 2, 8)} />}
              </g>
            );
          })}
        </g>
        <Gutter view={view} cursors={scene.cursors} lanes={lanes} y={(node) => y(node) + row / 2} tip={gutter - (hasLabels ? 22 : 6)} />
      </g>
    );
  };
  return { name: "intervals", width, height, draw };
}

function TimeAxis({ from, to, x, bottom }: { from: number; to: number; x(time: number): number; bottom: number }) {
  const times = Array.from({ length: 5 }, (_, k) => from + ((to - from) * k) / 4);
  return (
    <g class="axis">
      {times.map((time) => (
        <g key={time}>
          <path class="gridline" d={`M${round(x(time))} 2V${bottom}`} />
          <text x={round(x(time))} y={bottom + 14}>
            {short(time)}
          </text>
        </g>
      ))}
    </g>
  );
}

/** Index pointers: arrows from the left, each in its own lane. */
function Gutter({ view, cursors, lanes, y, tip }: { view: View; cursors: Colored[]; lanes: number[]; y(node: number): number; tip: number }) {
  let left = 2;
  return (
    <g class="lanes">
      {cursors.map(({ series, color }, index) => {
        const center = left + (lanes[index] as number) / 2;
        left += lanes[index] as number;
        const node = view.one(series);
        if (node === null) {
          return <g key={series.name} data-probe={probes(series)} />;
        }
        const isWrong = view.wrong(series).size > 0;
        return (
          <g key={series.name} class={classes("cursor", `c-${color}`, view.changed(series).size > 0 && "changed", isWrong && "wrong", series.stage)}
            data-probe={probes(series)} transform={`translate(0 ${round(y(node))})`}>
            <path class="stem" d={`M${round(center)} 0H${tip - 6}`} />
            <path class="head" d={`M${tip} 0l-8 4.5v-9z`} />
            <Pill x={center} y={0} text={series.name} color={color} isNew={view.changed(series).size > 0} stage={series.stage} />
            {isWrong && <path class="cross" d={crossMark(center, -10, 7)} />}
          </g>
        );
      })}
    </g>
  );
}
