/** SHAP values of rows, feature by feature: a dot for each row, colored by the value of the feature. */
import { ranks } from "../derive/ranks";
import { html, named, short, svg } from "../dom";
import { brief, count, fixed } from "../format";
import { kShades, shadeSwatch } from "../parts/swatch";
import { plainTable } from "../parts/table";
import type { PointsOfFeature, ShapPoints } from "../report";
import type { Drawing } from "./figure";
import { extent, linear } from "./scale";

const kRow = 30;
const kRight = 12;
const kTop = 6;
const kAxis = 42;
const kDot = 4.4;
/** Dots whose places are nearer than this lie above each other. */
const kColumn = 3.5;
const kMissing = kShades;
const kCategory = kShades + 1;

/** Rank correlation (Spearman) of the feature's values and their SHAP values; NaN where there is none. */
export function rankCorrelation({ shap, places }: PointsOfFeature): number {
  const known = [...places.keys()].filter((i) => Number.isFinite(places[i]!) && Number.isFinite(shap[i]!));
  const x = ranks(known.map((i) => places[i]!));
  const y = ranks(known.map((i) => shap[i]!));
  const mean = (all: number[]) => all.reduce((sum, each) => sum + each, 0) / all.length;
  const [meanX, meanY] = [mean(x), mean(y)];
  let [both, ofX, ofY] = [0, 0, 0];
  known.forEach((_, i) => {
    const dx = x[i]! - meanX;
    const dy = y[i]! - meanY;
    both += dx * dy;
    ofX += dx * dx;
    ofY += dy * dy;
  });
  return both / Math.sqrt(ofX * ofY);
}

function shadeOf(place: number, isCategory: boolean): number {
  if (Number.isNaN(place)) return kMissing;
  return isCategory ? kCategory : Math.min(kShades - 1, Math.floor(place * kShades));
}

/** Dots as points of one path for each shade. */
function dots({ shap, places, is_category }: PointsOfFeature, at: (value: number) => number, middle: number): SVGElement[] {
  const columns = new Map<number, number[]>();
  shap.forEach((value, i) => {
    if (!Number.isFinite(value)) return;
    const column = Math.round(at(value) / kColumn);
    columns.set(column, [...(columns.get(column) ?? []), i]);
  });
  const highest = Math.max(1, ...[...columns.values()].map((rows) => rows.length));
  const step = Math.min(kDot * 0.8, (kRow - kDot - 2) / highest);
  const paths = new Map<number, string>();
  for (const rows of columns.values()) {
    rows.forEach((row, k) => {
      const y = middle + (k % 2 ? 1 : -1) * Math.ceil(k / 2) * step;
      const shade = shadeOf(places[row]!, is_category ?? false);
      paths.set(shade, `${paths.get(shade) ?? ""}M${at(shap[row]!).toFixed(1)} ${y.toFixed(1)}h0`);
    });
  }
  return [...paths].map(([shade, d]) => svg("path", { class: `dots shade-${shade}`, d }));
}

const rangeOf = ({ shap }: PointsOfFeature) => extent(shap);

export const swarmDrawing: Drawing<ShapPoints> = {
  draw({ features }, width) {
    const left = width > 600 ? 178 : 118;
    const bottom = kTop + features.length * kRow;
    const [low, high] = extent([0, ...features.flatMap(({ shap }) => shap)]);
    const margin = (high - low) * 0.03;
    const x = linear([low - margin, high + margin], [left, width - kRight], width / 90);
    return svg(
      "svg",
      { width, height: bottom + kAxis, viewBox: `0 0 ${width} ${bottom + kAxis}` },
      ...x.ticks.flatMap((tick) => [
        svg("line", { class: "grid", x1: x.at(tick), x2: x.at(tick), y1: kTop, y2: bottom }),
        svg("text", { class: "tick", x: x.at(tick), y: bottom + 16, "text-anchor": "middle" }, x.label(tick)),
      ]),
      svg("line", { class: "axis", x1: x.at(0), x2: x.at(0), y1: kTop, y2: bottom }),
      svg(
        "text",
        { class: "label", x: (left + width - kRight) / 2, y: bottom + 34, "text-anchor": "middle" },
        "SHAP value, in units of the margin",
      ),
      ...features.flatMap((feature, row) => {
        const middle = kTop + row * kRow + kRow / 2;
        return [
          svg("text", { x: left - 8, y: middle + 4, "text-anchor": "end" }, short(feature.name, Math.floor(left / 7.2))),
          ...dots(feature, x.at, middle),
        ];
      }),
    );
  },
  describe({ features, rows }) {
    const first = features[0];
    if (!first) return "There are no features.";
    const [low, high] = rangeOf(first);
    return `SHAP values of ${count(rows)} rows for ${count(features.length)} features. Those of ${short(first.name)} go from ${brief(low)} to ${brief(high)}.`;
  },
  key: ({ features }) => [
    html("span", {}, "value of the feature: low ", ...Array.from({ length: kShades }, (_, i) => shadeSwatch(i)), " high"),
    features.some(({ places }) => places.some(Number.isNaN)) && html("span", {}, shadeSwatch(kMissing), "missing"),
    features.some(({ is_category }) => is_category) && html("span", {}, shadeSwatch(kCategory), "category"),
  ],
  table: ({ features }) =>
    plainTable(
      "SHAP values by feature",
      ["feature", "least", "largest", "rank correlation with the value"],
      features.map((feature) => [
        named(feature.name),
        ...rangeOf(feature).map((value) => brief(value)),
        feature.is_category || Number.isNaN(rankCorrelation(feature)) ? "–" : fixed(rankCorrelation(feature), 2),
      ]),
    ),
};
