/** The frame of an SVG chart: axes with ticks, labels, and grid lines. */
import { svg } from "../dom";
import type { Scale } from "./scale";

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Room for the labels of both axes. */
export const boxOf = (width: number, height: number): Box => ({
  left: 58,
  right: width - 12,
  top: 8,
  bottom: height - 40,
});

export function axes(box: Box, x: Scale, y: Scale, xLabel: string, yLabel: string): SVGElement {
  const group = svg("g", { class: "axes" });
  for (const tick of y.ticks) {
    const at = y.at(tick);
    group.append(
      svg("line", { class: "grid", x1: box.left, x2: box.right, y1: at, y2: at }),
      svg("text", { class: "tick", x: box.left - 6, y: at + 4, "text-anchor": "end" }, y.label(tick)),
    );
  }
  for (const tick of x.ticks) {
    const at = x.at(tick);
    group.append(
      svg("line", { class: "axis", x1: at, x2: at, y1: box.bottom, y2: box.bottom + 4 }),
      svg("text", { class: "tick", x: at, y: box.bottom + 17, "text-anchor": "middle" }, x.label(tick)),
    );
  }
  const middle = (box.top + box.bottom) / 2;
  group.append(
    svg("path", { class: "axis", d: `M${box.left} ${box.top}V${box.bottom}H${box.right}` }),
    svg("text", { class: "label", x: (box.left + box.right) / 2, y: box.bottom + 34, "text-anchor": "middle" }, xLabel),
    svg(
      "text",
      { class: "label", x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` },
      yLabel,
    ),
  );
  return group;
}
