/** Parallel coordinates: an axis for each option, one below the other, and a line for each trial from the first to the last. */
import { short, svg } from "../dom";
import { pointable, type Drawing } from "./figure";
import type { Scale } from "./scale";
import { nearestStrand, strandLines } from "./strands";

export interface Axis {
  title: string;
  scale(ends: [number, number], wanted: number): Scale;
}

export interface Parallel {
  axes: Axis[];
  /** Of each item a place on each axis. */
  items: { places: number[]; shade: number; text: string }[];
  description: string;
}

const kRow = 50;
const kMargin = 14;
/** Where there is less room, titles stand above their axes. */
const kBeside = 560;
const kTitles = 176;

function axis(scale: Scale, title: string, y: number, left: number, right: number, isBeside: boolean): SVGElement {
  const place = isBeside ? { x: left - kMargin - 8, y: y + 4, "text-anchor": "end" } : { x: 2, y: y - 8 };
  return svg(
    "g",
    {},
    svg("path", { class: "axis", d: `M${left} ${y}H${right}` }),
    ...scale.ticks.flatMap((tick) => {
      const x = scale.at(tick);
      return [
        svg("line", { class: "axis", x1: x, x2: x, y1: y, y2: y + 4 }),
        svg("text", { class: "tick halo", x, y: y + 16, "text-anchor": "middle" }, scale.label(tick)),
      ];
    }),
    svg("text", { class: "label halo", ...place }, short(title, isBeside ? 24 : 40)),
  );
}

export const parallelDrawing = (key: Drawing<Parallel>["key"]): Drawing<Parallel> => ({
  draw({ axes, items }, width) {
    const isBeside = width > kBeside;
    const row = isBeside ? kRow : kRow + 12;
    const [left, right] = [isBeside ? kTitles + kMargin : kMargin, width - kMargin - 4];
    const yOf = (i: number) => (isBeside ? 12 : 22) + i * row;
    const height = yOf(axes.length - 1) + 26;
    const scales = axes.map(({ scale }) => scale([left, right], (right - left) / 80));
    const strands = items.map(({ places, ...item }) => ({
      ...item,
      at: places.map((place, i): [number, number] => [scales[i]!.at(place), yOf(i)]),
    }));
    return pointable(
      svg(
        "svg",
        { width, height, viewBox: `0 0 ${width} ${height}` },
        ...strandLines(strands),
        ...axes.map(({ title }, i) => axis(scales[i]!, title, yOf(i), left, right, isBeside)),
      ),
      nearestStrand(strands, true),
    );
  },
  describe: ({ description }) => description,
  ...(key ? { key } : {}),
});
