/** What a model is, and which features it uses. */
import { Figure } from "../charts/figure";
import { swarmDrawing } from "../charts/swarm";
import type { ModelGroup, Shown, ShownRun } from "../derive/shown";
import { html, named } from "../dom";
import { count, score, sentence } from "../format";
import { BarTable } from "../parts/bars";
import { empty } from "../parts/controls";
import type { ShapPoints } from "../report";
import { Keyed, type Part } from "../parts/keyed";
import { modelText } from "./overview";
import { heading, kAtItsEnd, missing, type View } from "./view";

function facts({ runs, classes }: ModelGroup): HTMLElement {
  const { run } = runs.find((each) => each.run.command === "train") ?? runs[0]!;
  const { result, model } = run;
  const rows: [string, Node | string | undefined][] = [
    ["model", modelText(run)],
    ["objective", model?.objective ?? result?.objective],
    [
      "classes",
      classes.length
        ? html("span", {}, ...classes.slice(0, 50).flatMap((name, i) => (i ? [", ", named(name)] : [named(name)])))
        : undefined,
    ],
    ["label", result?.label?.column === undefined ? undefined : named(result.label.column)],
    ["features", result?.features === undefined ? undefined : count(result.features)],
    ["weights", result?.weights === undefined ? undefined : count(result.weights)],
    ["best round", result?.best_round === undefined ? undefined : count(result.best_round)],
    ["best epoch", result?.best_epoch === undefined ? undefined : count(result.best_epoch)],
    ["stopped early", result?.stopped_early ? "yes" : undefined],
    ["loss", result?.loss === undefined ? undefined : score(result.loss)],
    ["SHA-256", model?.sha256 === undefined ? undefined : html("code", { class: "hash" }, model.sha256.slice(0, 64))],
  ];
  return html(
    "dl",
    { class: "facts" },
    ...rows
      .filter(([, value]) => value !== undefined)
      .flatMap(([title, value]) => [html("dt", {}, sentence(title)), html("dd", {}, value!)]),
  );
}

class ModelPart implements Part<ModelGroup> {
  private head = html("div");
  private importance = new BarTable("Importance of features", ["gain", "splits"]);
  private shap = new BarTable("Mean |SHAP| of features", ["mean |SHAP|", "permutation"]);
  private points = new Figure<ShapPoints>("SHAP values of rows", swarmDrawing);
  private places = {
    importance: html("div", {}, html("h4", {}, "Importance by gain"), this.importance.element),
    shap: html("div", {}, html("h4", {}, "SHAP values"), this.shap.element),
  };
  private message = html("div");
  element = html(
    "section",
    { class: "model" },
    this.head,
    this.message,
    this.points.element,
    html("div", { class: "grid" }, this.places.importance, this.places.shap),
  );

  show(group: ModelGroup): void {
    this.head.replaceChildren(heading(group.title, group.series), facts(group));
    const importance = group.runs.find(({ run }) => run.model?.importance.length)?.run.model?.importance ?? [];
    const shap = group.runs.flatMap(({ run }: ShownRun) => run.result?.shap ?? []);
    this.places.importance.hidden = !importance.length;
    this.places.shap.hidden = !shap.length;
    if (importance.length)
      this.importance.show(
        importance.map(({ feature, gain, splits }) => ({ name: feature, values: [gain, splits] })),
        group.series,
      );
    if (shap.length)
      this.shap.show(
        shap.map(({ name, mean_abs_shap, permutation_mean }) => ({ name, values: [mean_abs_shap, permutation_mean] })),
        group.series,
      );
    const points = group.runs.find(({ run }) => run.shap_points?.features.length)?.run.shap_points;
    this.points.element.hidden = !points;
    if (points) this.points.show(points);
    this.message.replaceChildren(
      importance.length || shap.length
        ? ""
        : empty(
            "No importance of features here: the training of boosted trees reports it, and networks have none. `podere train gbt DATA --report train.html` makes a report with it.",
          ),
    );
  }
}

export function modelView(): View {
  const models = new Keyed<ModelGroup>(
    html("div"),
    ({ key }) => key,
    () => new ModelPart(),
  );
  const message = html("div");
  return {
    element: html("div", {}, message, models.element),
    show(shown: Shown) {
      const some = shown.models.filter(({ runs }) => runs.some(({ run }) => run.model || run.result?.shap.length));
      message.replaceChildren(
        ...missing(
          shown,
          !some.length,
          `The model comes ${kAtItsEnd}`,
          "None of these runs has a model. `podere train gbt DATA -o model.json --report out.html` makes one.",
        ),
      );
      models.show(some);
    },
  };
}
