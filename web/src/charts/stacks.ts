/** Bars of parts beside each other, such as the phases of several runs. */
import { html, named, short, svg } from "../dom";
import { seconds } from "../format";
import { spot } from "../parts/swatch";
import { plainTable } from "../parts/table";
import type { Drawing } from "./figure";
import { linear } from "./scale";

export interface Stack {
  title: string;
  /** By part; 0 where there is none. */
  seconds: number[];
}

export interface Stacks {
  parts: { title: string; series: number }[];
  stacks: Stack[];
}

const kRow = 26;
const kLeft = 74;
const kRight = 64;
const kAxis = 40;

export const totalOf = ({ seconds: parts }: Stack) => parts.reduce((sum, each) => sum + each, 0);

export const stacksDrawing = (describe: (value: Stacks) => string): Drawing<Stacks> => ({
  draw({ parts, stacks }, width) {
    const height = stacks.length * kRow + kAxis;
    const longest = Math.max(...stacks.map(totalOf));
    const x = linear([0, longest], [kLeft, width - kRight], width / 90);
    const bottom = stacks.length * kRow;
    return svg(
      "svg",
      { width, height, viewBox: `0 0 ${width} ${height}` },
      ...x.ticks.flatMap((tick) => [
        svg("line", { class: "grid", x1: x.at(tick), x2: x.at(tick), y1: 0, y2: bottom }),
        svg("text", { class: "tick", x: x.at(tick), y: bottom + 16, "text-anchor": "middle" }, x.label(tick)),
      ]),
      svg("text", { class: "label", x: (kLeft + width - kRight) / 2, y: bottom + 34, "text-anchor": "middle" }, "seconds"),
      ...stacks.flatMap((stack, row) => {
        let begin = 0;
        const middle = row * kRow + kRow / 2;
        const bars = stack.seconds.map((length, part) => {
          const bar = svg(
            "rect",
            {
              class: `fill series-${parts[part]!.series}`,
              x: x.at(begin),
              y: row * kRow + 4,
              width: Math.max(0, x.at(begin + length) - x.at(begin) - 0.5),
              height: kRow - 8,
            },
            svg("title", {}, `${short(parts[part]!.title, 60)}: ${seconds(length)}`),
          );
          begin += length;
          return bar;
        });
        return [
          svg("text", { x: kLeft - 8, y: middle + 4, "text-anchor": "end" }, short(stack.title, 12)),
          ...bars,
          svg("text", { class: "tick", x: x.at(begin) + 6, y: middle + 4 }, seconds(begin)),
        ];
      }),
    );
  },
  describe,
  key: ({ parts }) => parts.map(({ title, series }) => html("span", {}, spot(series), named(title))),
  table: ({ parts, stacks }) =>
    plainTable(
      "Seconds by phase",
      ["executors × cores", ...parts.map(({ title }) => short(title, 60)), "all"],
      stacks.map((stack) => [stack.title, ...stack.seconds.map(seconds), seconds(totalOf(stack))]),
    ),
});
