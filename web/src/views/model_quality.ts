/** How good one model is: measures, scores by class with training beside test, the best cut, confusion, residuals. */
import { confusionTable } from "../charts/matrix";
import { classNames, type ModelGroup, type ShownMeasured } from "../derive/shown";
import { html, named } from "../dom";
import { count, isNumber, percent, score, sentence, significant, words } from "../format";
import { empty, Select, toggle, toolbar } from "../parts/controls";
import type { Part } from "../parts/keyed";
import { plainTable } from "../parts/table";
import type { Measured } from "../report";
import { CutsPart } from "./cuts";
import { ResidualsPart, ScoresPart } from "./scores";
import { heading } from "./view";

const kMeasures = [
  "auc",
  "accuracy",
  "log_loss",
  "root_mean_squared_error",
  "mean_absolute_error",
  "mean_poisson_deviance",
  "pinball_loss",
] as const;

function measures(measured: ShownMeasured[]): HTMLElement {
  const keys = kMeasures.filter((key) => measured.some((each) => isNumber(each.measured[key])));
  const format = (key: (typeof kMeasures)[number], { measured: of }: ShownMeasured) =>
    key === "accuracy" ? percent(of[key], 2) : key.includes("error") ? significant(of[key]) : score(of[key]);
  return plainTable(
    "Measures",
    ["rows", "data", "count", ...keys.map((key) => words(key))],
    measured.map((each) => [
      named(sentence(each.measured.rows)),
      named(each.measured.data ?? "–"),
      count(each.measured.n_rows),
      ...keys.map((key) => format(key, each)),
    ]),
  );
}

/** The confusion matrix of the rows that are chosen. */
class ConfusionPart implements Part<ModelGroup> {
  private select = new Select("rows", (value) => ((this.chosen = value), this.draw()));
  private table = html("div");
  private chosen = "";
  private isShares = false;
  private group: ModelGroup | undefined;
  element = html(
    "div",
    { class: "confusion" },
    html("h4", {}, "Confusion matrix"),
    toolbar(
      this.select.element,
      toggle("shares of the true class", false, (value) => ((this.isShares = value), this.draw())),
    ),
    this.table,
  );

  show(group: ModelGroup): void {
    this.group = group;
    this.draw();
  }

  private draw(): void {
    const measured = this.group!.measured.filter((each) => each.measured.confusion.length);
    this.element.hidden = !measured.length;
    if (!measured.length) return;
    const last = measured.at(-1)!.title;
    this.chosen = this.select.offer(
      measured.map(({ title }) => [title, title.slice(0, 60)]),
      this.chosen || last,
    );
    const { confusion } = measured.find(({ title }) => title === this.chosen)!.measured;
    this.table.replaceChildren(
      confusionTable(
        `True class by predicted class, ${this.chosen.slice(0, 200)} rows`,
        confusion,
        classNames(this.group!.classes, confusion.length),
        this.isShares,
      ),
    );
  }
}

const onlyOneClass = (measured: Measured) =>
  measured.n_rows !== 0 && measured.confusion.length > 0 && !isNumber(measured.auc) && measured.confusion.length <= 2;

/** What is missing, and what to do. */
function hints(group: ModelGroup): HTMLElement[] {
  const found: HTMLElement[] = [];
  const of = (rows: string) => group.measured.some(({ measured }) => measured.rows === rows);
  if (!of("test"))
    found.push(
      empty(
        "No test rows yet: `podere evaluate MODEL DATA --report test.html`, then `podere report FILES -o out.html` to see both.",
      ),
    );
  else if (!of("training"))
    found.push(
      empty(
        "No training rows here: `podere report TRAIN.html TEST.html -o out.html` shows both together, so that overtraining is seen.",
      ),
    );
  if (group.measured.some(({ measured }) => measured.n_rows === 0))
    found.push(empty("Some data have no rows: look at `--rows` of the command."));
  if (group.measured.some(({ measured }) => onlyOneClass(measured)))
    found.push(empty("AUC, ROC and cuts need rows of both classes; here all rows are of one."));
  return found;
}

export class ModelQuality implements Part<ModelGroup> {
  private head = html("div");
  private scores = new ScoresPart();
  private cuts = new CutsPart();
  private confusion = new ConfusionPart();
  private residuals = new ResidualsPart();
  element = html(
    "section",
    { class: "model" },
    this.head,
    html(
      "div",
      { class: "grid" },
      html("div", { class: "stack" }, this.scores.element, this.residuals.element, this.confusion.element),
      this.cuts.element,
    ),
  );

  show(group: ModelGroup): void {
    this.head.replaceChildren(heading(group.title, group.series), measures(group.measured), ...hints(group));
    for (const part of [this.scores, this.cuts, this.residuals, this.confusion]) part.show(group);
  }
}
