// Files to take away: the picture as SVG without references to style sheets, and the view as a page of its own.

import { render } from "preact";
import template from "../../index.html";
import { stack, type Composition } from "../layout/compose.ts";
import { stepLabel } from "../model/describe.ts";
import type { Recording } from "../model/recording.ts";
import type { Scene } from "../model/scene.ts";
import { View } from "../model/view.ts";
import { legendPanel } from "../pictures/legend.tsx";
import { GAP, type Panel } from "../pictures/panel.ts";
import { composePicture, Picture } from "../pictures/picture.tsx";
import type { Saved } from "./data.ts";

export interface SvgRequest {
  title: string;
  scene: Scene;
  recording: Recording;
  truth: Recording | null;
  frame: number;
  frames: number;
}

const WIDTH = 1000;

/** The picture with a title and a legend, as a file that any program can draw. */
export function svgFile({ title, scene, recording, truth, frame, frames }: SvgRequest): string {
  const view = new View(recording, frame, truth);
  const caption = `${title}, ${stepLabel(view.frame, recording.steps)}`;
  const picture = composePicture(scene, frames, WIDTH);
  const titled: Composition<Panel> = { placed: [{ panel: titlePanel(caption), x: 0, y: 0 }], width: picture.width, height: 16 };
  const legend = legendPanel(scene, picture.width, truth !== null);
  const composition = stack(stack(titled, picture, 14), { placed: [{ panel: legend, x: 0, y: 0 }], width: picture.width, height: legend.height }, GAP);
  const holder = document.createElement("div");
  holder.className = "offscreen";
  document.body.append(holder);
  render(<Picture composition={composition} view={view} label={caption} />, holder);
  const svg = holder.querySelector("svg") as SVGSVGElement;
  const box = svg.viewBox.baseVal;
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  svg.setAttribute("width", String(box.width));
  svg.setAttribute("height", String(box.height));
  inlineStyles(svg);
  const text = new XMLSerializer().serializeToString(svg);
  render(null, holder);
  holder.remove();
  return `<?xml version="1.0" encoding="UTF-8"?>\n${text}\n`;
}

function titlePanel(text: string): Panel {
  const draw = () => (
    <text class="title" x={0} y={12}>
      {text}
    </text>
  );
  return { name: "title", width: 400, height: 16, draw };
}

/** Properties that pictures use, with the value that means none of it. */
const PROPERTIES: [string, string][] = [
  ["fill", "rgb(0, 0, 0)"],
  ["fill-opacity", "1"],
  ["stroke", "none"],
  ["stroke-width", "1px"],
  ["stroke-dasharray", "none"],
  ["stroke-linecap", "butt"],
  ["stroke-linejoin", "miter"],
  ["opacity", "1"],
  ["paint-order", "normal"],
];
const TEXT_PROPERTIES: [string, string][] = [
  ["font-size", ""],
  ["font-weight", "400"],
  ["font-style", "normal"],
  ["text-anchor", "start"],
];
const FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif";

/** Replaces classes by attributes: programs other than browsers know no variables and few style sheets. */
function inlineStyles(svg: SVGSVGElement) {
  const shapes = [...svg.querySelectorAll<SVGElement>("path, rect, circle, text, tspan")];
  const computed = shapes.map((shape) => {
    const style = getComputedStyle(shape);
    const properties = shape.tagName.startsWith("t") ? [...PROPERTIES, ...TEXT_PROPERTIES] : PROPERTIES;
    return properties.flatMap(([name, none]) => {
      const value = plainColor(style.getPropertyValue(name));
      return value === none || (name.startsWith("stroke-") && style.stroke === "none") ? [] : [[name, value] as const];
    });
  });
  for (const [index, shape] of shapes.entries()) {
    shape.removeAttribute("style");
    for (const [name, value] of computed[index] ?? []) {
      shape.setAttribute(name, value);
    }
  }
  for (const element of [svg, ...svg.querySelectorAll("*")]) {
    for (const name of ["class", "data-probe", "data-cell", "data-panel", "aria-label", "role"]) {
      element.removeAttribute(name);
    }
  }
  svg.setAttribute("font-family", FONT);
}

/** Mixed colors are computed as `color(srgb r g b)`, which few programs read. */
export function plainColor(value: string): string {
  const mixed = /^color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)\)$/.exec(value);
  return mixed ? `rgb(${mixed.slice(1).map((part) => Math.round(Number(part) * 255)).join(", ")})` : value;
}

/** A page with the given contents: this page, with other data. */
export function htmlFile(title: string, saved: Saved): string {
  const text = (id: string) => document.getElementById(id)?.textContent ?? "";
  const csp = document.querySelector("meta[http-equiv]")?.getAttribute("content") ?? "";
  return fillTemplate({
    csp,
    early: "",
    title: escapeHtml(title),
    picture_css: text("picture-style"),
    page_css: text("page-style"),
    data: JSON.stringify(saved).replaceAll("<", "\\u003c"),
    script: text("app-script"),
  });
}

export function fillTemplate(values: Record<string, string>): string {
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => values[name] ?? "");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

export function download(name: string, type: string, text: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
