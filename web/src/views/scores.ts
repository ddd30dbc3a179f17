/** Scores by class, and residuals, with training as steps and test as points: where they part, the model is overtrained. */
import { Figure } from "../charts/figure";
import { histogramDrawing, type Histogram, type HistogramSeries } from "../charts/histogram";
import { distributionDistance, normalized, rebin, sum, widened } from "../derive/bins";
import { classNames, classSeries, type ModelGroup, type ShownMeasured } from "../derive/shown";
import { html, short } from "../dom";
import { fixed, isNumber, score, significant } from "../format";
import { choice, toggle, toolbar } from "../parts/controls";
import type { Part } from "../parts/keyed";

const kBins = 40;

/** Steps for what was learned from, points for the rest. If there is only one of them, it is steps. */
function shownAs(measured: ShownMeasured[]): { steps: ShownMeasured | undefined; points: ShownMeasured | undefined } {
  const training = measured.find((each) => each.measured.rows === "training");
  const others = measured.filter((each) => each !== training);
  const test = others.findLast((each) => each.measured.rows === "test") ?? others.at(-1);
  return training ? { steps: training, points: test } : { steps: test, points: undefined };
}

/** Heights of bins: as they are, or as a density of area 1, with errors of the square root of the sum of squared weights. */
function heights(
  weights: number[],
  squares: number[],
  low: number,
  high: number,
  isNormalized: boolean,
): { heights: number[]; errors: number[] } {
  const bins = rebin(weights, kBins);
  const errors = rebin(squares, kBins).map((square) => Math.sqrt(Math.max(0, square)));
  if (!isNormalized) return { heights: bins, errors };
  const factor = bins.length / (high - low);
  const total = sum(bins);
  return {
    heights: normalized(bins).map((share) => share * factor),
    errors: errors.map((error) => (total > 0 ? (error / total) * factor : 0)),
  };
}

export class ScoresPart implements Part<ModelGroup> {
  private form: "density" | "counts" = "density";
  private isLog = false;
  private group: ModelGroup | undefined;
  private figure = new Figure<Histogram>(
    "Scores by class",
    histogramDrawing({
      xLabel: "predicted probability of class 1",
      yLabel: () => (this.form === "density" ? "density of each class" : "sum of weights"),
      describe: () => this.description,
    }),
    toolbar(
      choice<"density" | "counts">(
        "heights",
        { density: "Normalized", counts: "Counts" },
        "density",
        (value) => ((this.form = value), this.draw()),
      ),
      toggle("log scale", false, (value) => ((this.isLog = value), this.draw())),
    ),
  );
  private description = "";
  private text = html("p", { class: "note" });
  element = html("div", {}, this.figure.element, this.text);

  show(group: ModelGroup): void {
    this.group = group;
    this.draw();
  }

  private draw(): void {
    const { measured, classes } = this.group!;
    const { steps, points } = shownAs(measured.filter((each) => each.measured.scores));
    this.element.hidden = !steps;
    if (!steps) return;
    const names = classNames(classes, steps.measured.scores!.weights.length);
    const series: HistogramSeries[] = [];
    for (const [each, isPoints] of [
      [steps, false],
      [points, true],
    ] as const) {
      each?.measured.scores!.weights.forEach((weights, k) =>
        series.push({
          title: `${names[k] ?? `class ${k}`}, ${each.measured.rows}`,
          series: classSeries(k),
          ...(isPoints ? { mark: k ? ("square" as const) : ("circle" as const) } : {}),
          ...heights(weights, each.measured.scores!.squares[k] ?? weights, 0, 1, this.form === "density"),
        }),
      );
    }
    this.describe(steps, points, names);
    this.figure.show({ low: 0, high: 1, series, isLog: this.isLog });
  }

  private describe(steps: ShownMeasured, points: ShownMeasured | undefined, names: string[]): void {
    if (!points) {
      this.description = `Scores of ${steps.measured.rows} rows.`;
      this.text.textContent = `Steps: ${steps.measured.rows} rows.`;
      return;
    }
    const distances = names.map(
      (name, k) =>
        `${short(name, 30)} ${fixed(distributionDistance(steps.measured.scores!.weights[k] ?? [], points.measured.scores!.weights[k] ?? []), 3)}`,
    );
    const [a, b] = [steps.measured.auc, points.measured.auc];
    const auc =
      isNumber(a) && isNumber(b)
        ? ` AUC falls from ${score(a)} to ${score(b)}.`.replace("falls", b > a ? "rises" : "falls")
        : "";
    this.description = `Largest distance between training and ${short(points.measured.rows)} (Kolmogorov–Smirnov): ${distances.join(", ")}.${auc}`;
    this.text.textContent = `Steps: training rows. Points: ${short(points.measured.rows)} rows with √(sum of squared weights) as error bars. Points that leave the steps show overtraining. ${this.description}`;
  }
}

export class ResidualsPart implements Part<ModelGroup> {
  private figure = new Figure<Histogram>(
    "Residuals",
    histogramDrawing({
      xLabel: "label − prediction",
      yLabel: "density",
      describe: ({ series }) => `Of ${series.map(({ title }) => title).join(" and ")}. ${this.errors}`,
    }),
  );
  private errors = "";
  private text = html("p", { class: "note" });
  element = html("div", {}, this.figure.element, this.text);

  show({ measured }: ModelGroup): void {
    const { steps, points } = shownAs(measured.filter((each) => each.measured.residuals));
    this.element.hidden = !steps;
    if (!steps) return;
    const all = points ? [steps, points] : [steps];
    const high = Math.max(...all.map((each) => each.measured.residuals!.edges[1]!));
    const over = (each: ShownMeasured) =>
      widened(each.measured.residuals!.weights, high / each.measured.residuals!.edges[1]!);
    const shown = all.filter(over);
    this.text.textContent =
      "Steps: training rows. Points: other rows. A peak away from 0 is bias; wider points than steps are overtraining. The outer bins hold what lies beyond, too." +
      (shown.length < all.length ? " Some rows are not drawn: their bins do not meet the others." : "");
    this.errors = all
      .map((each) => `RMS error of ${each.measured.rows} rows: ${significant(each.measured.root_mean_squared_error)}.`)
      .join(" ");
    this.figure.show({
      low: -high,
      high,
      series: shown.map((each, i) => ({
        title: each.title,
        series: 5 + i,
        ...(i ? { mark: "circle" as const } : {}),
        ...heights(over(each)!, over(each)!, -high, high, true),
      })),
    });
  }
}
