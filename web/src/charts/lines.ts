/** Lines over a common x. */
import { html, named, short, svg, type Child } from "../dom";
import { fixed, significant } from "../format";
import { lineSwatch, markAt, type Dash } from "../parts/swatch";
import { plainTable } from "../parts/table";
import { axes, boxOf } from "./axes";
import { pointable, type Drawing } from "./figure";
import { clockScale, extent, linear, logarithmic, type Scale } from "./scale";

export interface Line {
  title: string;
  /** Stands behind the title in the key. */
  figure?: string;
  series: number;
  dash: Dash;
  points: Point[];
  /** Points are marked, too. */
  hasMarks?: boolean;
  /** What was computed, not measured. */
  isHollow?: boolean;
  isThin?: boolean;
  /** A value holds until the next one. */
  isStep?: boolean;
}

export interface Point {
  x: number;
  y: number;
  /** Half of an error bar. */
  error?: number;
  /** The ends of one that is not even. */
  range?: [number, number];
}

export interface Lines {
  lines: Line[];
  /** The ends of the axes, otherwise of the points. */
  x?: [number, number];
  y?: [number, number];
  isLogX?: boolean;
  /** Of numbers that are whole: no ticks between them. */
  isWholeX?: boolean;
  isLogY?: boolean;
  isWholeY?: boolean;
  /** x is in seconds since 1970. */
  isClockX?: boolean;
  /** What a guess, or a perfect model, would be. */
  reference?: [Point, Point];
  marks?: { point: Point; series: number; text: string }[];
}

export interface LinesOptions {
  xLabel: (value: Lines) => string;
  yLabel: (value: Lines) => string;
  describe(value: Lines): string;
  /** A value of x. */
  xText?: (x: number) => string;
  height?: number;
  /** As high as wide. */
  isSquare?: boolean;
}

const finite = ({ x, y }: Point) => Number.isFinite(x) && Number.isFinite(y);

/** A line has a gap where a point is not defined. */
export function pathOf(points: Point[], x: Scale, y: Scale, isStep = false): string {
  let path = "";
  let isDown = false;
  for (const point of points) {
    const [right, up] = [x.at(point.x).toFixed(1), y.at(point.y).toFixed(1)];
    if (finite(point)) path += !isDown ? `M${right} ${up}` : isStep ? `H${right}V${up}` : `L${right} ${up}`;
    isDown = finite(point);
  }
  return path;
}

function drawLine(line: Line, x: Scale, y: Scale): SVGElement {
  const group = svg(
    "g",
    { class: `series-${line.series}` },
    svg("path", {
      class: `line ${line.dash}${line.isThin ? " thin" : ""}`,
      d: pathOf(line.points, x, y, line.isStep),
    }),
  );
  if (line.hasMarks) {
    for (const { x: at, y: value, error, range } of line.points.filter(finite)) {
      const ends = range ?? (error ? [value - error, value + error] : undefined);
      if (ends)
        group.append(
          svg("line", {
            class: "line thin solid",
            x1: x.at(at),
            x2: x.at(at),
            y1: y.at(ends[0]!),
            y2: y.at(ends[1]!),
          }),
        );
      const mark = markAt(line.dash === "solid" || line.isHollow ? "circle" : "square", x.at(at), y.at(value));
      if (line.isHollow) mark.classList.add("hollow");
      group.append(mark);
    }
  }
  return group;
}

const yText = ({ isWholeY }: Lines, y: number | undefined) => (isWholeY ? fixed(y, 0) : significant(y));

const valueAt = ({ points, isStep }: Line, x: number) =>
  isStep ? points.findLast((point) => point.x <= x) : nearest(points, x);

const nearest = (points: Point[], x: number) =>
  points.reduce<Point | undefined>(
    (best, point) => (finite(point) && Math.abs(point.x - x) < Math.abs((best?.x ?? Infinity) - x) ? point : best),
    undefined,
  );

export function linesDrawing(options: LinesOptions): Drawing<Lines> {
  return {
    draw(value, width) {
      const height = options.isSquare ? Math.min(width, 420) : (options.height ?? 280);
      const box = boxOf(width, height);
      const points = value.lines.flatMap((line) => line.points).filter(finite);
      const positive = (values: number[], isLog = false) => extent(isLog ? values.filter((each) => each > 0) : values);
      const x = (value.isLogX ? logarithmic : value.isClockX ? clockScale : linear)(
        value.x ??
          positive(
            points.map((point) => point.x),
            value.isLogX,
          ),
        [box.left, box.right],
        value.isWholeX && value.x ? Math.max(1, Math.min(width / 80, value.x[1] - value.x[0])) : width / 80,
      );
      const y = (value.isLogY ? logarithmic : linear)(
        value.y ??
          positive(
            points.map((point) => point.y),
            value.isLogY,
          ),
        [box.bottom, box.top],
        value.isWholeY && value.y ? Math.min(5, value.y[1] - value.y[0]) : 5,
      );
      const picture = svg(
        "svg",
        { width, height, viewBox: `0 0 ${width} ${height}` },
        axes(box, x, y, options.xLabel(value), options.yLabel(value)),
      );
      const inside = svg("svg", {
        x: box.left,
        y: box.top - 4,
        width: box.right - box.left + 4,
        height: box.bottom - box.top + 4,
        viewBox: `${box.left} ${box.top - 4} ${box.right - box.left + 4} ${box.bottom - box.top + 4}`,
      });
      if (value.reference) inside.append(svg("path", { class: "reference", d: pathOf(value.reference, x, y) }));
      inside.append(...value.lines.map((line) => drawLine(line, x, y)));
      picture.append(inside);
      for (const { point, series, text } of value.marks ?? []) {
        const isRight = x.at(point.x) > (box.left + box.right) / 2;
        picture.append(
          svg(
            "g",
            { class: `series-${series}` },
            svg("line", { class: "best", x1: x.at(point.x), x2: x.at(point.x), y1: box.bottom, y2: y.at(point.y) }),
            svg("circle", { class: "bestmark", cx: x.at(point.x), cy: y.at(point.y), r: 4.5 }),
            svg(
              "text",
              {
                class: "tick strong",
                x: x.at(point.x) + (isRight ? -8 : 8),
                y: Math.max(box.top + 12, y.at(point.y) - 8),
                "text-anchor": isRight ? "end" : "start",
              },
              text,
            ),
          ),
        );
      }
      return pointable(picture, (at) => {
        if (at < box.left || at > box.right) return undefined;
        const here = x.value(at);
        const texts = value.lines.map(
          (line) => `${short(line.title, 30)}: ${yText(value, valueAt(line, here)?.y)}`,
        );
        return { x: at, text: `${options.xLabel(value)} ${options.xText?.(here) ?? significant(here, 3)} · ${texts.join(" · ")}` };
      });
    },
    describe: options.describe,
    key: (value): Child[] =>
      value.lines.map((line) =>
        html(
          "span",
          {},
          lineSwatch(line.series, line.dash),
          named(line.title),
          line.figure ? html("b", {}, ` ${line.figure}`) : null,
        ),
      ),
    table: (value) =>
      plainTable(
        options.yLabel(value),
        ["line", options.xLabel(value), options.yLabel(value)],
        value.lines.flatMap((line) =>
          thinned(line.points).map((point) => [
            named(line.title),
            options.xText?.(point.x) ?? significant(point.x),
            yText(value, point.y),
          ]),
        ),
      ),
  };
}

/** At most 100, for people. */
function thinned(points: Point[]): Point[] {
  const every = Math.ceil(points.length / 100);
  return points.filter((_, i) => i % every === 0 || i === points.length - 1);
}
