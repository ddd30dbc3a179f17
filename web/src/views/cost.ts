/** Where the time went: of each run its figures, phases, a time line by executor, and all tasks. */
import { TimeLineChart } from "../charts/timeline";
import { timeLineOf, type TimeLine } from "../derive/cost";
import { secondsLost } from "../derive/losses";
import { changes, type Shown, type ShownRun } from "../derive/shown";
import { html, named, svg } from "../dom";
import { bytes, count, fixed, isNumber, plural, seconds, significant } from "../format";
import { choice, empty, note, Select, toolbar } from "../parts/controls";
import { Keyed, type Part } from "../parts/keyed";
import { SortableTable, type TableColumn } from "../parts/table";
import type { Figures, Run } from "../report";
import { TaskTable } from "./tasks";
import { heading, missing, section, type View } from "./view";

const orNaN = (value: number | undefined) => value ?? NaN;
type Row = { title: string; run: ShownRun; figures: Figures };

const figure = (
  title: string,
  key: keyof Figures,
  format: (value: number | undefined) => string,
  hint?: string,
): TableColumn<Row> => ({
  title,
  isNumber: true,
  value: ({ figures }) => orNaN(figures[key] as number | undefined),
  cell: ({ figures }) => format(figures[key] as number | undefined),
  ...(hint ? { hint } : {}),
});

const figureColumns: TableColumn<Row>[] = [
  figure("elapsed", "elapsed_seconds", seconds, "clock time; of a phase, that of its slowest task"),
  figure("run", "run_seconds", seconds, "work that needs no other executor, added up over executors"),
  figure("wait", "wait_seconds", seconds, "what collectives took: waiting for slower executors, sending, adding up"),
  figure("CPU", "cpu_seconds", seconds),
  figure("skew", "skew", (value) => fixed(value, 2), "the longest run divided by the median run"),
  figure("read", "bytes_read", bytes),
  figure("written", "bytes_written", bytes),
  figure("sent", "bytes_sent", bytes, "to other executors"),
  figure("rows in", "rows_read", count),
  figure("peak memory", "peak_memory_bytes", bytes, "the most that any one executor held"),
  figure("energy", "energy_joules", (value) => (isNumber(value) ? `${significant(value, 3)} J` : "–")),
  figure("lost", "lost_seconds", (value) => (value ? seconds(value) : "–"), "time that losses of executors cost"),
];

/** Without those that no row has a value for. */
const filled = (columns: TableColumn<Row>[], rows: Row[]) =>
  columns.filter(({ value }) => rows.some((row) => !Number.isNaN(value!(row))));

const runColumn: TableColumn<Row> = {
  title: "run",
  isHead: true,
  value: ({ title }) => title,
  cell: ({ title }) => named(title),
};
const phaseColumn: TableColumn<Row> = { title: "phase", isHead: true, cell: ({ title }) => named(title) };

const legend = () =>
  html(
    "div",
    { class: "key" },
    ...(["read", "compute", "wait"] as const).map((kind) =>
      html(
        "span",
        {},
        svg(
          "svg",
          { class: "swatch", width: 14, height: 10, "aria-hidden": "true" },
          svg("rect", { class: `bar ${kind}`, width: 14, height: 10 }),
        ),
        kind,
      ),
    ),
  );

/** In one sentence: where the executors' time went. */
function summary(line: TimeLine): string {
  const run = line.executors.reduce((total, each) => total + each.run, 0);
  const wait = line.executors.reduce((total, each) => total + each.wait, 0);
  const slowest = line.executors.reduce((a, b) => (b.run > a.run ? b : a));
  return (
    `${plural(line.executors.length, "executor")}: ${fixed((100 * run) / (run + wait || 1), 0)} % of their time was work, ${fixed((100 * wait) / (run + wait || 1), 0)} % waiting for others. ` +
    `Executor ${slowest.executor} had most work, ${seconds(slowest.run)}.`
  );
}

/** One run: phases, time line, tasks. */
class RunCost implements Part<ShownRun> {
  private phase = -1;
  private order: "executor" | "run" = "executor";
  private line: TimeLine | undefined;
  private run: Run | undefined;
  private head = html("div");
  private text = html("p");
  private phases = new SortableTable<Row>("Phases", [phaseColumn]);
  private select = new Select("phase", (value) => ((this.phase = Number(value)), this.draw()));
  private chart = new TimeLineChart("Time line by executor");
  private tasks = new TaskTable();
  private message = html("div");
  private details = html(
    "div",
    {},
    this.text,
    toolbar(
      this.select.element,
      choice<"executor" | "run">(
        "order of executors",
        { executor: "By number", run: "Most work first" },
        "executor",
        (value) => ((this.order = value), this.draw()),
      ),
      legend(),
    ),
    this.chart.element,
    note(
      "Each bar is an executor; all begin a phase together. Read: time in calls that read and write files, divided by the executor's cores.",
    ),
    html("h4", {}, "Tasks"),
    this.tasks.element,
  );
  element = html("section", { class: "model" }, this.head, this.phases.element, this.message, this.details);

  show(shown: ShownRun): void {
    const { run, series } = shown;
    this.run = run;
    this.line = timeLineOf(run);
    this.head.replaceChildren(heading(run.name, series, run.seconds === undefined ? "" : seconds(run.seconds)));
    const phases = run.result?.metrics?.phases ?? [];
    this.phases.element.hidden = !phases.length;
    const rows = phases.map((figures) => ({ title: figures.phase ?? "–", run: shown, figures }));
    this.phases.show(rows, [phaseColumn, ...filled(figureColumns, rows)]);
    this.message.replaceChildren(
      this.line ? "" : empty("No figures of single executors here: reports have them unless the run was ended early."),
    );
    this.details.hidden = !this.line;
    if (!this.line) return;
    const lost = run.result?.losses.length ?? 0;
    this.text.textContent =
      summary(this.line) +
      (lost
        ? ` ${plural(lost, "executor")} ${lost > 1 ? "were" : "was"} lost, which cost ${seconds(secondsLost(run))}: bars are of those that finished.`
        : "");
    const names: [string, string][] = this.line.phaseNames.map((name, i) => [String(i), name.slice(0, 60)]);
    this.phase = Number(
      this.select.offer(names.length > 1 ? [["-1", "all"], ...names] : names.slice(0, 1), String(this.phase)),
    );
    this.draw();
  }

  private draw(): void {
    this.chart.show({ line: this.line!, phase: this.phase, order: this.order });
    this.tasks.show({ tasks: this.run!.result!.metrics!.tasks!, phase: this.phase });
  }
}

export function cost(): View {
  const jobs = new SortableTable<Row>("Runs side by side", [runColumn]);
  const together = section("Runs side by side", jobs.element);
  const runs = new Keyed<ShownRun>(
    html("div"),
    ({ run }) => run.name,
    () => new RunCost(),
  );
  const message = html("div");
  const isOther = changes();
  return {
    element: html("div", {}, message, together, runs.element),
    show(shown: Shown) {
      const measured = shown.runs.filter(({ run }) => run.result?.metrics);
      message.replaceChildren(
        ...missing(
          shown,
          !measured.length,
          "Figures of its cost come when it is done",
          "These runs have no figures of cost. `podere train gbt DATA --report out.html` measures them.",
        ),
      );
      if (!isOther(measured)) return;
      together.hidden = !measured.length;
      const rows = measured.map((run) => ({ title: run.run.name, run, figures: run.run.result?.metrics?.job ?? {} }));
      jobs.show(rows, [runColumn, ...filled(figureColumns, rows)]);
      runs.show(measured);
    },
  };
}
