/** Histograms: some as filled steps, others as points with error bars over them. */
import { html, named, short, svg, type Child } from "../dom";
import { brief, significant } from "../format";
import { areaSwatch, markAt, markSwatch, type Mark } from "../parts/swatch";
import { plainTable } from "../parts/table";
import { axes, boxOf, type Box } from "./axes";
import { pointable, type Drawing } from "./figure";
import { extent, linear, logarithmic, type Scale } from "./scale";

export interface HistogramSeries {
  title: string;
  series: number;
  /** How points are marked; without it, filled steps. */
  mark?: Mark;
  heights: number[];
  /** Half of the error bars, of points. */
  errors?: number[];
}

export interface Histogram {
  /** The ends of all bins together; they have the same width. */
  low: number;
  high: number;
  series: HistogramSeries[];
  isLog?: boolean;
  /** Names of the bins, where they are no numbers. */
  categories?: string[];
}

/** Below each bin its name, or below every second, third, ... if there are too many. */
function categoryScale(categories: string[], { left, right }: Box): Scale {
  const width = (right - left) / categories.length;
  const every = Math.max(1, Math.ceil(50 / width));
  const at = (place: number) => left + (place + 0.5) * width;
  return {
    at,
    value: (pixel) => (pixel - left) / width - 0.5,
    ticks: categories.map((_, i) => i).filter((i) => i % every === 0),
    label: (i) => short(categories[i] ?? "", Math.max(4, Math.floor((every * width) / 8))),
  };
}

/** What a bin holds, in words. */
function binText({ low, high, categories }: Histogram, bin: number, n: number): string {
  if (categories) return short(categories[bin] ?? "", 60);
  const width = (high - low) / n;
  return `${brief(low + bin * width, 3)} to ${brief(low + (bin + 1) * width, 3)}`;
}

export interface HistogramOptions {
  xLabel: string;
  yLabel: string | ((value: Histogram) => string);
  describe(value: Histogram): string;
  height?: number;
  hasKey?: boolean;
}

function stepsPath({ heights }: HistogramSeries, edge: (i: number) => number, y: Scale, base: number): string {
  return `M${edge(0)} ${base}${heights.map((height, i) => `V${y.at(height).toFixed(1)}H${edge(i + 1).toFixed(1)}`).join("")}V${base}`;
}

function drawPoints(series: HistogramSeries, center: (i: number) => number, y: Scale, isLog: boolean): SVGElement {
  const group = svg("g");
  series.heights.forEach((height, i) => {
    if (isLog ? height <= 0 : height === 0) return;
    const error = series.errors?.[i] ?? 0;
    group.append(
      svg("line", {
        class: "line thin solid",
        x1: center(i),
        x2: center(i),
        y1: y.at(height - error),
        y2: y.at(height + error),
      }),
      markAt(series.mark!, center(i), y.at(height)),
    );
  });
  return group;
}

/** From 0, or from half of the least that is there. */
function scaleOf(value: Histogram, range: [number, number]): Scale {
  const tops = value.series.flatMap(({ heights, errors }) => heights.map((height, i) => height + (errors?.[i] ?? 0)));
  if (!value.isLog) {
    const [low, high] = extent([0, ...tops, ...value.series.flatMap(({ heights }) => heights)]);
    return linear([low < 0 ? low * 1.05 : 0, high * 1.05], range, 5);
  }
  const [low, high] = extent(value.series.flatMap(({ heights }) => heights).filter((height) => height > 0));
  return logarithmic([low / 2, Math.max(high, ...tops) * 1.5], range, 5);
}

export function histogramDrawing(options: HistogramOptions): Drawing<Histogram> {
  const yLabel = (value: Histogram) => (typeof options.yLabel === "string" ? options.yLabel : options.yLabel(value));
  return {
    draw(value, width) {
      const height = options.height ?? 280;
      const box = boxOf(width, height);
      const n = Math.max(1, ...value.series.map(({ heights }) => heights.length));
      const x = value.categories
        ? categoryScale(value.categories, box)
        : linear([value.low, value.high], [box.left, box.right], width / 80);
      const y = scaleOf(value, [box.bottom, box.top]);
      const edge = (i: number) => box.left + (i / n) * (box.right - box.left);
      const picture = svg(
        "svg",
        { width, height, viewBox: `0 0 ${width} ${height}` },
        axes(box, x, y, options.xLabel, yLabel(value)),
      );
      const base = value.isLog ? box.bottom : y.at(0);
      for (const series of value.series) {
        const group = svg("g", { class: `series-${series.series}` });
        if (series.mark) group.append(drawPoints(series, (i) => edge(i + 0.5), y, Boolean(value.isLog)));
        else
          group.append(
            svg("path", { class: "area", d: stepsPath(series, edge, y, base) }),
            svg("path", { class: "line solid thin", d: stepsPath(series, edge, y, base) }),
          );
        picture.append(group);
      }
      return pointable(picture, (at) => {
        const bin = Math.floor(((at - box.left) / (box.right - box.left)) * n);
        if (bin < 0 || bin >= n) return undefined;
        const texts = value.series.map(({ title, heights }) => `${short(title, 30)}: ${significant(heights[bin], 3)}`);
        return { x: edge(bin + 0.5), text: `${binText(value, bin, n)} · ${texts.join(" · ")}` };
      });
    },
    describe: options.describe,
    ...(options.hasKey === false
      ? {}
      : {
          key: (value: Histogram): Child[] =>
            value.series.map(({ title, series, mark }) =>
              html("span", {}, mark ? markSwatch(series, mark) : areaSwatch(series), named(title)),
            ),
        }),
    table(value) {
      const n = Math.max(0, ...value.series.map(({ heights }) => heights.length));
      return plainTable(
        yLabel(value),
        [options.xLabel, ...value.series.map(({ title }) => short(title, 60))],
        Array.from({ length: n }, (_, bin) => [
          binText(value, bin, n),
          ...value.series.map(({ heights }) => significant(heights[bin])),
        ]),
      );
    },
  };
}
