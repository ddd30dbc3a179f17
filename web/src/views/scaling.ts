/** How commands scale over executors and cores: studies of podere scale, measured and modeled. */
import { Figure } from "../charts/figure";
import { linesDrawing, type Lines } from "../charts/lines";
import { stacksDrawing, totalOf, type Stacks } from "../charts/stacks";
import { measuredOf, phaseStacks, scalingLines, type Measure } from "../derive/scaling";
import { html, named, short } from "../dom";
import { bytes, count, fixed, percent, plural, seconds, significant } from "../format";
import { empty, note } from "../parts/controls";
import { Keyed, type Part } from "../parts/keyed";
import { SortableTable, type TableColumn } from "../parts/table";
import { isWeak, totalCores, type Study, type StudyPoint } from "../study";
import { section, type View } from "./view";

const kMeasures: Record<Measure, [title: string, label: string, text: (value: number) => string]> = {
  seconds: ["Seconds", "seconds", seconds],
  speed_up: ["Speed-up", "speed-up", (value) => `${significant(value, 3)} times`],
  efficiency: ["Efficiency", "efficiency in %", (value) => `${fixed(value, 0)} %`],
};

/** "1 core each: 12.3 s on 1, 6.40 s on 2" */
function linesText({ lines }: Lines, measure: Measure): string {
  const [, , text] = kMeasures[measure];
  return lines
    .filter(({ hasMarks }) => hasMarks)
    .map(({ title, points }) => `${title}: ${points.map(({ x, y }) => `${text(y)} on ${count(x)}`).join(", ")}`)
    .join("; ");
}

const measureFigure = (measure: Measure) =>
  new Figure<Lines>(
    kMeasures[measure][0],
    linesDrawing({
      xLabel: () => "cores in all",
      yLabel: () => kMeasures[measure][1],
      describe: (value) => `Over cores in all. ${linesText(value, measure)}.`,
    }),
  );

const phasesFigure = () =>
  new Figure<Stacks>(
    "Phases",
    stacksDrawing(
      ({ stacks }) => `Seconds by executors × cores. ${stacks.map((each) => `${each.title}: ${seconds(totalOf(each))}`).join("; ")}.`,
    ),
  );

const numberColumn = (
  title: string,
  value: (point: StudyPoint) => number | undefined,
  text: (value: number | undefined) => string,
  hint?: string,
): TableColumn<StudyPoint> => ({
  title,
  isNumber: true,
  value: (point) => value(point) ?? NaN,
  cell: (point) => text(value(point)),
  ...(hint ? { hint } : {}),
});

const kColumns: TableColumn<StudyPoint>[] = [
  {
    title: "executors × cores",
    isHead: true,
    value: totalCores,
    cell: ({ executors, cores }) => `${count(executors)} × ${count(cores)}`,
  },
  { title: "times", value: kindOf, cell: kindOf, hint: "measured, or computed by a model" },
  numberColumn("seconds", (point) => point.seconds, seconds, "the median of the runs"),
  numberColumn("least", (point) => point.least_seconds, seconds),
  numberColumn("most", (point) => point.most_seconds, seconds),
  numberColumn("speed-up", (point) => point.speed_up, (value) => fixed(value, 2)),
  numberColumn("efficiency", (point) => point.efficiency, (value) => percent(value, 0)),
  numberColumn("waiting", (point) => point.wait_share, (value) => percent(value, 0), "the share of their time in which executors waited for each other"),
  numberColumn("memory each", (point) => point.peak_memory_bytes, bytes, "the most that any one executor held"),
  numberColumn("runs", (point) => point.n_runs, (value) => (value ? count(value) : "–")),
];

function kindOf({ modeled }: StudyPoint): string {
  return modeled ? "modeled" : "measured";
}

function sentences(study: Study): HTMLElement[] {
  const measured = measuredOf(study);
  const runs = measured.reduce((sum, { n_runs }) => sum + (n_runs ?? 1), 0);
  const on = study.cpu ? ` on ${short(study.cpu, 80)}` : "";
  const rows = isWeak(study) ? `, ${count(study.weak_rows)} rows for each core (weak scaling)` : "";
  const same = study.same_results ? " All runs wrote the same bytes." : study.same_results === false ? " Not all runs wrote the same bytes." : "";
  return [
    html("p", {}, `${plural(runs, "run")} of ${plural(measured.length, "point")}${on}${rows}.${same}`),
    ...(study.suggestion?.reasons.length
      ? [
          html("h4", {}, "Suggested"),
          html("ul", {}, ...study.suggestion.reasons.map((reason) => html("li", {}, html("bdi", {}, short(reason, 300))))),
        ]
      : []),
    ...[study.model, study.papers].flatMap((stated) => (stated ? [note(short(stated.text, 1000))] : [])),
  ];
}

class StudyPart implements Part<Study> {
  private head = html("div");
  private figures = (["seconds", "speed_up", "efficiency"] as const).map(
    (measure) => [measure, measureFigure(measure)] as const,
  );
  private phases = phasesFigure();
  private table = new SortableTable<StudyPoint>("Points", kColumns);
  private charts = html(
    "div",
    {},
    html("div", { class: "grid" }, ...this.figures.map(([, figure]) => figure.element), this.phases.element),
    this.table.element,
  );
  element = html("section", { class: "model study" }, this.head, this.charts);

  show(study: Study): void {
    this.head.replaceChildren(
      html("h3", {}, named(study.name ?? study.command)),
      html("pre", { tabindex: 0, role: "group", "aria-label": "command line" }, html("bdi", {}, short(study.command, 2000))),
      ...(study.points.length ? sentences(study) : [empty("This study has no runs yet: the same `podere scale` continues it.")]),
    );
    this.charts.hidden = !study.points.length;
    if (!study.points.length) return;
    for (const [measure, figure] of this.figures) figure.show(scalingLines(study, measure));
    const stacks = phaseStacks(study);
    this.phases.element.hidden = !stacks.stacks.length;
    if (stacks.stacks.length) this.phases.show(stacks);
    this.table.show(study.points);
  }
}

export function scaling(): View {
  const studies = new Keyed<[key: string, study: Study]>(
    html("div"),
    ([key]) => key,
    () => {
      const part = new StudyPart();
      return { element: part.element, show: ([, study]) => part.show(study) };
    },
  );
  const message = html("div");
  return {
    element: section("How commands scale", message, studies.element),
    show() {},
    compare(found: Study[]) {
      message.replaceChildren(
        found.length
          ? ""
          : empty(
              "This report has no study. `podere scale -o gbt.json train gbt DATA` measures one, `podere report gbt.json FILES -o out.html` shows it.",
            ),
      );
      studies.show(found.map((study, i) => [`${i} ${study.name}`, study]));
    },
  };
}
