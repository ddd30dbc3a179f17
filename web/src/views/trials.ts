/** What a search for options has tried: podere tune. */
import { Figure } from "../charts/figure";
import { parallelDrawing, type Parallel } from "../charts/parallel";
import { scatterDrawing, type Scatter } from "../charts/scatter";
import { shadeKey } from "../charts/strands";
import { searchedOptions, sharedText } from "../derive/options";
import type { Shown, ShownRun } from "../derive/shown";
import { bestOf, bestSoFar, budgetsOf, scoredOf } from "../derive/trials";
import { html } from "../dom";
import { count, percent, plural } from "../format";
import { empty, note } from "../parts/controls";
import { Keyed, type Part } from "../parts/keyed";
import { kShades } from "../parts/swatch";
import { plainTable } from "../parts/table";
import type { Run } from "../report";
import type { Search } from "../trials";
import { scoreText, TrialCharts } from "./trial_charts";
import { OptionsPart } from "./trial_options";
import { TrialTable } from "./trial_table";
import { heading, missing, type View } from "./view";

export const isSearch = ({ command, result }: Run) => command === "tune" || result?.search !== undefined;

const key = ({ items }: { items: { shade: number }[] }) =>
  shadeKey("trials by score: worst", "best", items.some(({ shade }) => shade === kShades) ? "failed" : "");

/** Of a search that ended before they did: what was measured of them stays. */
const withoutRunning = (search: Search): Search => ({
  ...search,
  trials: search.trials.flatMap((trial) =>
    trial.state !== "running" ? [trial] : trial.score === undefined ? [] : [{ ...trial, state: "paused" as const }],
  ),
});

/** "The model blends 2 trials, whose score together is 0.788: trial 8 (60 %), trial 3 (40 %)." */
function ensembleText({ score, trials }: NonNullable<Search["ensemble"]>): string {
  const members = [...trials]
    .sort((a, b) => b.weight - a.weight)
    .map(({ trial, weight }) => `trial ${trial} (${percent(weight)})`);
  return `The model blends ${plural(trials.length, "trial")}, whose score together is ${scoreText(score)}: ${members.join(", ")}.`;
}

/** "64 trials: 8 complete, 56 paused. ..." Of `all`, `search` has those that were measured. */
function summary({ trials: all }: Search, search: Search, charts: TrialCharts): (Node | string)[] {
  const { trials } = search;
  const counts = (["complete", "paused", "running", "failed"] as const)
    .map((state) => [state, all.filter((trial) => trial.state === state).length] as const)
    .filter(([, n]) => n)
    .map(([state, n]) => `${count(n)} ${state}`);
  const best = bestOf(search);
  const chosen = trials.find(({ trial }) => trial === search.chosen);
  const shared = sharedText(trials);
  return [
    html("p", {}, `${plural(all.length, "trial")}: ${counts.join(", ")}.`),
    best
      ? html("p", {}, `The best is ${charts.textOf(best.trial)}.`)
      : empty(`No trial has a score${all.length > trials.length ? " yet" : ""}.`),
    search.ensemble ? html("p", {}, ensembleText(search.ensemble)) : "",
    chosen && chosen !== best?.trial && !search.ensemble ? html("p", {}, `The model has the setting of ${charts.textOf(chosen)}.`) : "",
    shared ? html("p", { class: "soft" }, `All have ${shared}.`) : "",
    best ? note("Its score is the best of many, so it is a little too good: measure the model on other rows.") : "",
  ];
}

class SearchPart implements Part<ShownRun> {
  private head = html("div");
  private search: Search | undefined;
  private soFar = new Figure<Scatter>("Best so far", scatterDrawing({ key, table: () => this.bestTable() }));
  private curves = new Figure<Scatter>(
    "Scores while they were trained",
    scatterDrawing({ key, table: () => this.curveTable() }),
  );
  private trials = new TrialTable();
  private parallel = new Figure<Parallel>("Options and score of each trial", parallelDrawing(key));
  private options = new OptionsPart();
  private several = html(
    "div",
    {},
    this.parallel.element,
    note("The nearest trial to the pointer is shown below. Axes are logarithmic where values span powers of ten."),
    this.options.element,
  );
  private charts = html("div", { class: "grid together" }, this.soFar.element, this.curves.element);
  private table = html("div", {}, html("h4", {}, "All trials"), this.trials.element);
  element = html("section", { class: "model trials" }, this.head, this.charts, this.table, this.several);

  show({ run, series }: ShownRun): void {
    const all = run.state === "running" ? run.result!.search! : withoutRunning(run.result!.search!);
    const search = { ...all, trials: all.trials.filter(({ state, score }) => state !== "running" || score !== undefined) };
    const options = searchedOptions(search.trials);
    const charts = new TrialCharts(search, options);
    this.search = search;
    this.head.replaceChildren(
      heading(run.name, series),
      ...(all.trials.length ? summary(all, search, charts) : [empty("No trial was measured.")]),
    );
    const scored = scoredOf(search.trials);
    this.table.hidden = !all.trials.length;
    this.charts.hidden = !scored.length;
    this.several.hidden = scored.length < 2 || !options.length;
    this.trials.show(all);
    if (this.charts.hidden) return;
    this.soFar.show(charts.bestSoFar());
    const curves = charts.curves();
    this.curves.element.hidden = !curves;
    if (curves) this.curves.show(curves);
    if (this.several.hidden) return;
    this.parallel.show(charts.parallel());
    this.options.show(search, options, charts, series);
  }

  private bestTable(): HTMLElement {
    const rows = bestSoFar(this.search!).map(({ trial, best }) => [
      String(trial.trial),
      scoreText(trial.score),
      scoreText(best),
    ]);
    return plainTable("Best so far", ["trial", "score", "best so far"], rows);
  }

  private curveTable(): HTMLElement {
    const { trials } = this.search!;
    const budgets = budgetsOf(trials);
    const rows = trials.map(({ trial, curve }) => [
      String(trial),
      ...budgets.map((budget) => scoreText(curve.find(([at]) => at === budget)?.[1])),
    ]);
    return plainTable(
      "Scores while they were trained",
      ["trial", ...budgets.map((budget) => `after ${count(budget)}`)],
      rows,
    );
  }
}

export function trials(): View {
  const searches = new Keyed<ShownRun>(
    html("div"),
    ({ run }) => run.name,
    () => new SearchPart(),
  );
  const message = html("div");
  return {
    element: html("div", {}, message, searches.element),
    show(shown: Shown) {
      const runs = shown.runs.filter(({ run }) => isSearch(run));
      const found = runs.filter(({ run }) => run.result?.search);
      message.replaceChildren(
        ...missing(
          { ...shown, runs: runs.filter((run) => !found.includes(run)) },
          !found.length,
          "Trials come when its search begins",
          "None of these runs searched for options. `podere tune gbt DATA -o best.json --report out.html` does.",
        ),
      );
      searches.show(found);
    },
  };
}
