/** What ran, on what, how good it is, how long it took, and what was lost. */
import { bestEvidence, type ModelGroup, type Shown, type ShownRun } from "../derive/shown";
import { lossesOf, secondsLost } from "../derive/losses";
import { html, named, short, type Child } from "../dom";
import { bytes, count, isNumber, moment, percent, plural, score, seconds, significant } from "../format";
import { empty } from "../parts/controls";
import { Keyed, type Part } from "../parts/keyed";
import { spot } from "../parts/swatch";
import { SortableTable, type TableColumn } from "../parts/table";
import type { Measured, Run } from "../report";
import { heading, section, type View } from "./view";

/** Of warnings and command lines. */
const kLongest = 2000;

const orNaN = (value: number | undefined) => value ?? NaN;

/** The measure that a model of this kind is judged by. */
export function headline(measured: Measured): [name: string, value: string] | undefined {
  if (isNumber(measured.auc)) return ["AUC", score(measured.auc)];
  if (isNumber(measured.accuracy)) return ["accuracy", percent(measured.accuracy, 2)];
  if (isNumber(measured.root_mean_squared_error)) return ["RMS error", significant(measured.root_mean_squared_error)];
  if (isNumber(measured.log_loss)) return ["log loss", score(measured.log_loss)];
  return undefined;
}

const tile = (title: string, value: Child, more: Child = null) =>
  html(
    "div",
    { class: "tile" },
    html("dt", {}, title),
    html("dd", {}, html("span", { class: "figure" }, value), html("span", { class: "soft" }, more)),
  );

export function modelText({ result, model }: Run): string {
  const rounds = result?.rounds_run ?? result?.trees;
  if (rounds !== undefined) return plural(rounds, "tree");
  if (result?.layers) return result.layers;
  return model?.objective ?? result?.objective ?? "–";
}

const stateText = (run: Run) => run.state ?? "–";
const executorsText = ({ result }: Run) =>
  result?.executors ? `${count(result.executors)} × ${plural(result.cores ?? 1, "core")}` : "–";
const rowsOf = (run: Run) => orNaN(run.result?.training_rows ?? run.result?.rows);

/** By this run, or of its model by another: the row of a training has the measures of its evaluation, too. */
const measuredOn = (run: Run, group: ModelGroup | undefined, rows: string) =>
  [...run.measured, ...(run.command === "train" ? (group?.measured ?? []).map(({ measured }) => measured) : [])].find(
    (each) => each.rows === rows,
  );

/** The figures of one model, those of rows it has not learned from first. */
class ModelTiles implements Part<ModelGroup> {
  element = html("section", { class: "card" });

  show(group: ModelGroup): void {
    const evidence = bestEvidence(group);
    const best = evidence && headline(evidence.measured);
    const training = group.measured.find(({ measured }) => measured.rows === "training")?.measured;
    const trainingFigure = training && training !== evidence?.measured ? headline(training) : undefined;
    const trained = group.runs.find(({ run }) => run.command === "train") ?? group.runs[0]!;
    const { result, model } = trained.run;
    const objective = model?.objective ?? result?.objective;
    const losses = group.runs.flatMap(({ run }) => lossesOf(run));
    const lost = group.runs.reduce((total, { run }) => total + secondsLost(run), 0);
    this.element.replaceChildren(
      heading(group.title, group.series),
      html(
        "dl",
        { class: "tiles" },
        best && evidence
          ? tile(
              `${best[0]}, ${evidence.measured.rows} rows`,
              best[1],
              trainingFigure ? `training ${trainingFigure[1]}` : null,
            )
          : null,
        evidence && best?.[0] !== "accuracy" && isNumber(evidence.measured.accuracy)
          ? tile("accuracy", percent(evidence.measured.accuracy, 2))
          : null,
        tile(result?.layers ? "network" : "model", named(modelText(trained.run)), objective ? named(objective) : null),
        tile(
          "rows",
          count(rowsOf(trained.run)),
          result?.features !== undefined ? plural(result.features, "feature") : null,
        ),
        tile(
          trained.run.command === "train" ? "training took" : "took",
          seconds(trained.run.seconds),
          executorsText(trained.run),
        ),
        tile("executors lost", losses.length ? count(losses.length) : "none", lost ? `cost ${seconds(lost)}` : null),
      ),
      evidence
        ? ""
        : empty(
            trained.run.state === "running"
              ? "Running. It is measured when it is done, if it was started with `--report FILE`."
              : trained.run.command === "train" || trained.run.command === "evaluate"
                ? "Not measured yet: `podere evaluate MODEL DATA --report test.html`, then `podere report FILES -o out.html` to see both."
                : "This command measures no model.",
          ),
    );
  }
}

type Groups = Map<Run, ModelGroup>;
const modelOf = (run: Run, groups: Groups) =>
  modelText(groups.get(run)?.runs.find((each) => each.run.command === "train")?.run ?? run);

/** `measures` stand behind what was trained on what. */
function columnsOf(groups: Groups, measures: TableColumn<ShownRun>[]): TableColumn<ShownRun>[] {
  return [
    {
      title: "run",
      isHead: true,
      value: ({ run }) => run.name,
      cell: ({ run, series }) => html("span", { class: "runname" }, spot(series), named(run.name)),
    },
    { title: "model", value: ({ run }) => modelOf(run, groups), cell: ({ run }) => named(modelOf(run, groups)) },
    { title: "rows", isNumber: true, value: ({ run }) => rowsOf(run), cell: ({ run }) => count(rowsOf(run)) },
    ...measures,
    { title: "took", isNumber: true, value: ({ run }) => orNaN(run.seconds), cell: ({ run }) => seconds(run.seconds) },
    {
      title: "executors",
      isNumber: true,
      value: ({ run }) => orNaN(run.result?.executors),
      cell: ({ run }) => executorsText(run),
    },
    {
      title: "lost",
      isNumber: true,
      hint: "executors lost",
      value: ({ run }) => lossesOf(run).length,
      cell: ({ run }) => count(lossesOf(run).length),
    },
    {
      title: "loss",
      isNumber: true,
      value: ({ run }) => orNaN(run.result?.loss),
      cell: ({ run }) => score(run.result?.loss),
    },
    {
      title: "memory",
      isNumber: true,
      hint: "the most that any one executor held",
      value: ({ run }) => orNaN(run.result?.peak_memory_bytes),
      cell: ({ run }) => bytes(run.result?.peak_memory_bytes),
    },
    { title: "command", value: ({ run }) => run.command, cell: ({ run }) => named(run.command) },
    {
      title: "state",
      value: ({ run }) => stateText(run),
      cell: ({ run }) => html("span", { class: `state ${run.state ?? ""}` }, stateText(run)),
    },
    { title: "began", value: ({ run }) => run.began ?? "", cell: ({ run }) => moment(run.began) },
  ];
}

const kMeasures: [keyof Measured, string, (value: number | undefined) => string][] = [
  ["auc", "AUC", score],
  ["accuracy", "accuracy", percent],
  ["root_mean_squared_error", "RMS error", significant],
  ["mean_absolute_error", "mean error", significant],
  ["log_loss", "log loss", score],
];

/** Of the measure that comes first, a column for each kind of rows; of the others one, for the rows that say most. */
function measureColumns(runs: ShownRun[], groups: Groups): TableColumn<ShownRun>[] {
  const found: TableColumn<ShownRun>[] = [];
  for (const [key, title, format] of kMeasures) {
    const columns = ["training", "validation", "test"]
      .map((rows): TableColumn<ShownRun> => {
        const value = ({ run }: ShownRun) => orNaN(measuredOn(run, groups.get(run), rows)?.[key] as number | undefined);
        return { title: `${title}, ${rows}`, isNumber: true, value, cell: (each) => format(value(each)) };
      })
      .filter(({ value }) => runs.some((each) => isNumber(value!(each) as number)));
    found.push(...(found.length ? columns.slice(-1) : columns));
  }
  return found;
}

/** What happened in a run, as it was printed. */
function happenings({ run, series }: ShownRun): (Node | string)[] {
  const warnings = [
    ...run.events.map(({ seconds: at, message }) => [seconds(at), message]),
    ...(run.result?.warning ? [["", run.result.warning]] : []),
  ];
  return [
    html("h4", {}, spot(series), named(run.name)),
    run.arguments
      ? html(
          "pre",
          { tabindex: 0, role: "group", "aria-label": "command line" },
          html("bdi", {}, short(run.arguments, kLongest)),
        )
      : "",
    warnings.length
      ? html(
          "ol",
          { class: "events" },
          ...warnings.map(([at, message]) =>
            html("li", {}, html("span", { class: "soft number" }, at), html("bdi", {}, short(message ?? "", kLongest))),
          ),
        )
      : html("p", { class: "soft" }, "No warnings, no losses."),
  ];
}

export function overview(): View {
  const cards = new Keyed<ModelGroup>(
    html("div", { class: "cards" }),
    ({ key }) => key,
    () => new ModelTiles(),
  );
  const table = new SortableTable<ShownRun>("Runs side by side", []);
  const events = new Keyed<ShownRun>(
    html("div"),
    ({ run }) => run.name,
    () => {
      const element = html("article", { class: "happenings" });
      return { element, show: (each) => element.replaceChildren(...happenings(each)) };
    },
  );
  return {
    element: html(
      "div",
      {},
      cards.element,
      section("Runs side by side", table.element),
      section("Commands and warnings", events.element),
    ),
    show({ runs, models }: Shown) {
      cards.show(models);
      const groups: Groups = new Map(models.flatMap((group) => group.runs.map(({ run }) => [run, group])));
      table.show(runs, columnsOf(groups, measureColumns(runs, groups)));
      events.show(runs);
    },
  };
}
