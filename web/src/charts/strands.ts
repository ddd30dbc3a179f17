/** Many items as lines or dots whose color is a shade. The one that is nearest to the pointer is named. */
import { html, svg } from "../dom";
import { kShades, shadeSwatch } from "../parts/swatch";
import type { Pointed } from "./figure";

export interface Strand {
  /** Pixels. */
  at: [x: number, y: number][];
  shade: number;
  text: string;
}

/** In pixels: what is farther from the pointer is not meant. */
const kReach = 30;

const pathOf = ({ at }: Strand) => `M${at.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
const dotsOf = ({ at }: Strand) => at.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("");

/** One path for each shade: there may be thousands of items. Those of the last shades lie on top. */
function pathsOf(strands: Strand[], classes: string, draw: (strand: Strand) => string): SVGElement[] {
  const order = [kShades, ...Array.from({ length: kShades }, (_, i) => i)];
  return order.flatMap((shade) => {
    const d = strands
      .filter((each) => each.shade === shade)
      .map(draw)
      .join("");
    return d ? [svg("path", { class: `${classes} shade-${shade}`, d })] : [];
  });
}

export const strandLines = (strands: Strand[]) =>
  pathsOf(strands, strands.length > 100 ? "strand faint" : "strand", pathOf);
export const strandDots = (strands: Strand[]) => pathsOf(strands, "dots", dotsOf);

/** From a point to the piece of a line between two others. */
function distance(x: number, y: number, [x0, y0]: [number, number], [x1, y1]: [number, number]): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  const along = length > 0 ? Math.max(0, Math.min(1, ((x - x0) * dx + (y - y0) * dy) / length)) : 0;
  return Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
}

/** Of a line: to any place on it. */
const distanceTo = ({ at }: Strand, x: number, y: number, isLine: boolean) =>
  at.reduce(
    (least, point, i) => Math.min(least, distance(x, y, isLine ? at[Math.max(0, i - 1)]! : point, point)),
    Infinity,
  );

/** For pointable(). */
export const nearestStrand =
  (strands: Strand[], isLine: boolean) =>
  (x: number, y: number): Pointed | undefined => {
    let [nearest, least]: [Strand | undefined, number] = [undefined, kReach];
    for (const strand of strands) {
      const here = distanceTo(strand, x, y, isLine);
      if (here < least) [nearest, least] = [strand, here];
    }
    if (!nearest) return undefined;
    const [[cx, cy] = [0, 0]] = nearest.at;
    const mark =
      nearest.at.length > 1
        ? svg("path", { class: "marked", d: pathOf(nearest) })
        : svg("circle", { class: "marked", cx, cy, r: 6 });
    return { x, text: nearest.text, mark };
  };

/** What the shades mean. */
export const shadeKey = (low: string, high: string, without = "") => [
  html("span", {}, `${low} `, ...Array.from({ length: kShades }, (_, i) => shadeSwatch(i)), ` ${high}`),
  without && html("span", {}, shadeSwatch(kShades), without),
];
