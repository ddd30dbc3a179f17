/** Charts of the trials of a search, whose color is the score: the best so far, after how many rounds, by option. */
import { optionAxis } from "../charts/option_axis";
import type { Parallel } from "../charts/parallel";
import type { Item, Scatter } from "../charts/scatter";
import { linear, logarithmic } from "../charts/scale";
import { optionText, placeOf, settingText, type Option } from "../derive/options";
import { bestSoFar, budgetsOf, isMaximized, scoreRange, shadesOf, unitOf, type Scored } from "../derive/trials";
import { short } from "../dom";
import { brief, count, plural, significant, words } from "../format";
import type { Search, Trial } from "../trials";

export const scoreText = (score: number | undefined) => significant(score, 5);
export const scoreName = (search: Search) => short(words(search.score ?? "score"));

/** What stands below the parts that are about the same search. */
export class TrialCharts {
  readonly unit: string;
  readonly score: string;
  private shades: Map<Trial, number>;
  private names: string[];

  constructor(
    private search: Search,
    private options: Option[],
  ) {
    this.unit = unitOf(search);
    this.score = scoreName(search);
    this.shades = shadesOf(search);
    this.names = options.map(({ name }) => name);
  }

  /** "trial 8: AUC 0.77888 after 500 trees, complete; depth 7, ..." */
  textOf(trial: Trial): string {
    const { score, budget, state, facts } = trial;
    const how =
      score === undefined
        ? `failed${facts?.error ? ` (${short(facts.error, 80)})` : ""}`
        : `${this.score} ${scoreText(score)} after ${plural(budget ?? NaN, this.unit)}, ${state}`;
    return `trial ${trial.trial}: ${how}; ${settingText(trial, this.names)}`;
  }

  private shadeOf = (trial: Trial) => this.shades.get(trial)!;
  /** Of a trial that failed: the worst end of an axis. */
  private worst = () => (isMaximized(this.search) ? -Infinity : Infinity);
  private item = (trial: Trial, x: number, score: number | undefined, text: string): Item => ({
    points: [{ x, y: score ?? this.worst() }],
    shade: this.shadeOf(trial),
    text,
  });
  private range = (scores: number[]) => scoreRange(this.search, scores);

  bestSoFar(): Scatter {
    const so = bestSoFar(this.search);
    const last = so.at(-1)!;
    const first = so[0]!.trial.trial;
    const found = so.find(({ best }) => best === last.best)!;
    return {
      items: so.map(({ trial }) => this.item(trial, trial.trial, trial.score, this.textOf(trial))),
      steps: so.map(({ trial, best }) => ({ x: trial.trial, y: best })),
      x: (ends, wanted) =>
        linear(
          [first, Math.max(first + 1, last.trial.trial)],
          ends,
          Math.max(1, Math.min(wanted, last.trial.trial - first)),
        ),
      y: this.range(so.map(({ trial }) => trial.score ?? NaN)),
      xLabel: "trial",
      yLabel: this.score,
      description: `${plural(so.length, "trial")} in the order of their numbers. The best ${this.score}, ${scoreText(last.best)}, is that of trial ${found.trial.trial}.`,
    };
  }

  /** A line for each trial. Undefined: all were measured once, or the report does not have what was measured before. */
  curves(): Scatter | undefined {
    const measured = this.search.trials.filter(({ curve }) => curve.length);
    const budgets = budgetsOf(measured);
    if (budgets.length < 2) return undefined;
    const pointText = ([budget, score]: number[]) =>
      `${Number.isNaN(score) ? "failed" : scoreText(score)} after ${count(budget)}`;
    const items = measured.map((trial) => ({
      points: trial.curve.map(([x, y]) => ({ x: x!, y: Number.isNaN(y) ? this.worst() : y! })),
      shade: this.shadeOf(trial),
      text: `trial ${trial.trial}: ${trial.curve.map(pointText).join(", ")}; ${settingText(trial, this.names)}`,
    }));
    const points = items.flatMap((item) => item.points);
    const ends: [number, number] = [budgets[0]!, budgets.at(-1)!];
    const counts = budgets.map(
      (budget) => `${count(points.filter(({ x }) => x === budget).length)} after ${count(budget)}`,
    );
    return {
      items,
      isLine: true,
      x: (pixels) => ({
        ...(ends[1] > 4 * ends[0] ? logarithmic : linear)(ends, pixels),
        ticks: budgets,
        label: count,
      }),
      y: this.range(points.map(({ y }) => y)),
      xLabel: `${this.unit}s`,
      yLabel: this.score,
      description: `How many trials were measured after how many ${this.unit}s: ${counts.join(", ")}.`,
    };
  }

  parallel(): Parallel {
    const { trials } = this.search;
    const [low, high] = this.range(trials.map(({ score = NaN }) => score));
    const score = {
      range: [low, high] as [number, number],
      isLog: false,
      isWhole: false,
      categories: [],
      isAbsentInSome: trials.some((trial) => trial.score === undefined),
    };
    const places = (trial: Trial) => [
      ...this.options.map((option) => placeOf(option, trial)),
      trial.score === undefined ? NaN : Math.min(high, Math.max(low, trial.score)),
    ];
    return {
      axes: [
        ...this.options.map((option) => ({
          title: option.title,
          scale: (ends: [number, number], wanted: number) => optionAxis(option, ends, wanted),
        })),
        { title: this.score, scale: (ends, wanted) => optionAxis(score, ends, wanted, "failed") },
      ],
      items: trials.map((trial) => ({ places: places(trial), shade: this.shadeOf(trial), text: this.textOf(trial) })),
      description: `A line for each of ${plural(trials.length, "trial")} through ${plural(this.options.length, "option")} and ${this.score}.`,
    };
  }

  /** Scores after as many rounds by the values of an option. */
  byOption(option: Option, scored: Scored[], budget: number): Scatter {
    const item = (trial: Trial, score: number | undefined) => {
      const how = score === undefined ? "failed" : `${this.score} ${scoreText(score)}`;
      const text = `trial ${trial.trial}: ${how}, ${option.title} ${optionText(trial.setting[option.name])}`;
      return this.item(trial, placeOf(option, trial), score, text);
    };
    const measured = new Set(scored.map(({ trial }) => trial));
    const failed = this.search.trials.filter((trial) => trial.score === undefined && !measured.has(trial));
    const range = option.categories.length
      ? `${count(option.categories.length)} categories`
      : `${brief(option.range[0])} to ${brief(option.range[1])}`;
    return {
      items: [
        ...failed.map((trial) => item(trial, undefined)),
        ...scored.map(({ trial, score }) => item(trial, score)),
      ],
      x: (ends, wanted) => optionAxis(option, ends, wanted),
      y: this.range(scored.map(({ score }) => score)),
      xLabel: short(option.title, 30),
      yLabel: this.score,
      description: `${this.score} of ${plural(scored.length, "trial")} after ${plural(budget, this.unit)}, over ${range}.`,
    };
  }
}
