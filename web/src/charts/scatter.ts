/** Items by two values: dots, or lines through several points each. */
import { svg } from "../dom";
import { axes, boxOf } from "./axes";
import { pointable, type Drawing } from "./figure";
import { pathOf, type Point } from "./lines";
import { linear, type Scale } from "./scale";
import { nearestStrand, strandDots, strandLines } from "./strands";

export interface Item {
  points: Point[];
  shade: number;
  text: string;
}

export interface Scatter {
  items: Item[];
  /** The points of an item are joined. */
  isLine?: boolean;
  /** A value that holds until the next one, above the items. */
  steps?: Point[];
  x(ends: [number, number], wanted: number): Scale;
  /** The ends of the axis. What is beyond lies at its end. */
  y: [number, number];
  xLabel: string;
  yLabel: string;
  description: string;
}

export const scatterDrawing = (more: Pick<Drawing<Scatter>, "key" | "table"> = {}, height = 260): Drawing<Scatter> => ({
  draw({ items, isLine = false, steps, x: xAxis, y: ends, xLabel, yLabel }, width) {
    const box = boxOf(width, height);
    // Dots at the ends are whole.
    const x = xAxis([box.left + 6, box.right - 6], width / 80);
    const y = linear(ends, [box.bottom, box.top], 5);
    const strands = items.map(({ points, ...item }) => ({
      ...item,
      at: points.map((point): [number, number] => [x.at(point.x), y.at(Math.min(ends[1], Math.max(ends[0], point.y)))]),
    }));
    return pointable(
      svg(
        "svg",
        { width, height, viewBox: `0 0 ${width} ${height}` },
        axes(box, x, y, xLabel, yLabel),
        steps
          ? svg("g", { class: "series-6" }, svg("path", { class: "line solid", d: pathOf(steps, x, y, true) }))
          : null,
        ...(isLine ? strandLines(strands) : []),
        ...strandDots(strands),
      ),
      nearestStrand(strands, isLine),
    );
  },
  describe: ({ description }) => description,
  ...more,
});
