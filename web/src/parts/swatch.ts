/** The mark of a series: its color, and its dashes or shape for those who do not see colors. */
import { svg } from "../dom";

export type Dash = "solid" | "dashed" | "dotted";
export type Mark = "circle" | "square";

/** Test rows are solid: they are what counts. */
export const dashOf = (rows: string): Dash =>
  rows === "training" ? "dotted" : rows === "validation" ? "dashed" : "solid";

export const kDashes: Record<Dash, number[]> = { solid: [], dashed: [7, 4], dotted: [2, 3] };

export function lineSwatch(series: number, dash: Dash = "solid"): SVGElement {
  return svg(
    "svg",
    { class: `swatch series-${series}`, width: 22, height: 10, "aria-hidden": "true" },
    svg("line", { class: `line ${dash}`, x1: 0, x2: 22, y1: 5, y2: 5 }),
  );
}

export function areaSwatch(series: number): SVGElement {
  return svg(
    "svg",
    { class: `swatch series-${series}`, width: 16, height: 10, "aria-hidden": "true" },
    svg("rect", { class: "area", x: 0, y: 0, width: 16, height: 10 }),
    svg("path", { class: "line solid", d: "M0 10V1H16V10" }),
  );
}

export function markSwatch(series: number, mark: Mark): SVGElement {
  return svg(
    "svg",
    { class: `swatch series-${series}`, width: 16, height: 12, "aria-hidden": "true" },
    svg("line", { class: "line solid thin", x1: 8, x2: 8, y1: 0, y2: 12 }),
    markAt(mark, 8, 6),
  );
}

export function markAt(mark: Mark, x: number, y: number): SVGElement {
  return mark === "circle"
    ? svg("circle", { class: "mark", cx: x, cy: y, r: 3 })
    : svg("rect", { class: "mark", x: x - 2.8, y: y - 2.8, width: 5.6, height: 5.6 });
}

/** A spot of color beside a name. */
export const spot = (series: number) =>
  svg(
    "svg",
    { class: `swatch series-${series}`, width: 10, height: 10, "aria-hidden": "true" },
    svg("circle", { class: "fill", cx: 5, cy: 5, r: 5 }),
  );

/** From low to high values: the classes shade-0 to shade-4 of style.css. */
export const kShades = 5;

export const shadeSwatch = (shade: number) =>
  svg("svg", { class: "swatch", width: 10, height: 10 }, svg("path", { class: `dots shade-${shade}`, d: "M5 5h0" }));
