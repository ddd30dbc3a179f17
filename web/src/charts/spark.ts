/** A small curve without axes, which says where a measure goes. */
import { svg, type Child } from "../dom";

const kWidth = 240;
const kHeight = 44;
const kPoints = 240;

/** Of long curves every so manyth value, and the last one. */
function thinned(values: number[]): number[] {
  const finite = values.filter(Number.isFinite);
  const every = Math.ceil(finite.length / kPoints);
  return finite.filter((_, i) => i % every === 0 || i === finite.length - 1);
}

export class Spark {
  private line = svg("path", { class: "line solid", "vector-effect": "non-scaling-stroke" });
  private end = svg("path", { class: "end", "vector-effect": "non-scaling-stroke" });
  readonly element: SVGSVGElement;

  constructor(series: number, ...more: Child[]) {
    this.element = svg(
      "svg",
      {
        class: `spark series-${series}`,
        viewBox: `0 0 ${kWidth} ${kHeight}`,
        preserveAspectRatio: "none",
        role: "img",
      },
      ...more,
      this.line,
      this.end,
    );
  }

  show(values: number[], label: string): void {
    const shown = thinned(values);
    const low = Math.min(...shown);
    const range = Math.max(...shown) - low || 1;
    const at = (value: number, i: number) =>
      `${(4 + ((kWidth - 8) * i) / Math.max(1, shown.length - 1)).toFixed(1)} ${(kHeight - 4 - ((kHeight - 8) * (value - low)) / range).toFixed(1)}`;
    this.line.setAttribute("d", shown.length > 1 ? `M${shown.map(at).join("L")}` : "");
    // A line without length is a dot, whose form does not depend on how the picture is stretched.
    const last = shown.at(-1);
    this.end.setAttribute("d", last === undefined ? "" : `M${at(last, shown.length - 1)}h0`);
    this.element.setAttribute("aria-label", label);
  }
}
