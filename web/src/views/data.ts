/** Histograms of each column by class. */
import { Figure } from "../charts/figure";
import { histogramDrawing, type Histogram } from "../charts/histogram";
import { rebin, sum } from "../derive/bins";
import { changes, classNames, classSeries, type Shown, type ShownRun } from "../derive/shown";
import { html, named, short } from "../dom";
import { brief, count, percent, plural, sentence, significant } from "../format";
import { choice, search, Select, toggle, toolbar } from "../parts/controls";
import { Keyed, type Part } from "../parts/keyed";
import { areaSwatch } from "../parts/swatch";
import type { Column, Columns } from "../report";
import { kAtItsEnd, missing, type View } from "./view";

type Form = "density" | "counts";

interface ShownColumn {
  column: Column;
  classes: string[];
  form: Form;
  isLog: boolean;
}

const kBins = 60;
/** The mass of two b jets: the figure by which students see the Higgs boson. */
const kFirst = "m_bb";

/** What describe knows of columns, where no histograms by class are. */
function columnsOf({ run }: ShownRun): Columns | undefined {
  if (run.columns?.features.length) return run.columns;
  const features = (run.result?.described ?? []).filter(
    ({ histogram, minimum, maximum }) => histogram.length && minimum !== undefined && maximum !== undefined,
  );
  if (!features.length) return undefined;
  return {
    classes: [],
    features: features.map(({ name, minimum, maximum, histogram, missing }) => ({
      name,
      low: minimum!,
      high: maximum!,
      weights: [histogram],
      below: [],
      above: [],
      missing: [missing ?? 0],
      categories: [],
    })),
  };
}

function histogramOf({ column, classes, form, isLog }: ShownColumn): Histogram {
  const names = column.weights.length > 1 || classes.length ? classNames(classes, column.weights.length) : ["all rows"];
  return {
    low: column.low,
    high: column.high > column.low ? column.high : column.low + 1,
    isLog,
    ...(column.categories.length ? { categories: column.categories } : {}),
    series: column.weights.map((weights, k) => {
      const bins = column.categories.length ? weights : rebin(weights, kBins);
      const total = sum(weights) * ((column.high - column.low || 1) / bins.length);
      return {
        title: names[k]!,
        series: classSeries(k),
        heights: form === "counts" || total <= 0 ? bins : bins.map((weight) => weight / total),
      };
    }),
  };
}

/** Mean of each class by the centers of bins, and what is not in the bins. */
function describe({ column, classes }: ShownColumn): string {
  const names = classNames(classes, column.weights.length);
  if (column.categories.length)
    return `${plural(column.categories.length, "category", "categories")}. ${outside(column)}`;
  const means = column.weights.map((weights, k) => {
    const width = (column.high - column.low) / weights.length;
    const mean = sum(weights.map((weight, i) => weight * (column.low + (i + 0.5) * width))) / sum(weights);
    return `${column.weights.length > 1 ? `${short(names[k]!, 40)} has a` : "the"} mean ${column.weights.length > 1 ? "of" : "is"} about ${significant(mean, 3)}`;
  });
  return `From ${brief(column.low, 3)} to ${brief(column.high, 3)}; ${means.join(", ")}. ${outside(column)}`;
}

function outside(column: Column): string {
  const all = sum(column.weights.map(sum));
  const [below, above, missing] = [sum(column.below), sum(column.above), sum(column.missing)];
  const total = all + below + above + missing;
  const texts = [
    missing && `missing ${percent(missing / total)}`,
    below && `below ${count(below)}`,
    above && `above ${count(above)}`,
  ];
  return sentence(texts.filter(Boolean).join(" · "));
}

class ColumnPart implements Part<ShownColumn> {
  private value: ShownColumn | undefined;
  private figure: Figure<Histogram>;
  private more = html("p", { class: "note" });
  private isNear = false;
  element: HTMLElement;

  constructor(name: string, isFirst: boolean) {
    this.figure = new Figure<Histogram>(
      short(name, 200),
      histogramDrawing({
        xLabel: short(name, 40),
        yLabel: () => (this.value?.form === "counts" ? "sum of weights" : "density"),
        describe: () => describe(this.value!),
        height: isFirst ? 300 : 210,
        hasKey: false,
      }),
    );
    this.element = html("div", { class: isFirst ? "column first" : "column" }, this.figure.element, this.more);
    // Thousands of columns: each is drawn once it comes near.
    new IntersectionObserver(
      (seen) => {
        this.isNear ||= seen.some(({ isIntersecting }) => isIntersecting);
        if (this.isNear) this.draw();
      },
      { rootMargin: "600px" },
    ).observe(this.element);
  }

  show(value: ShownColumn): void {
    this.value = value;
    if (this.isNear) this.draw();
  }

  private drawn: ShownColumn | undefined;
  private draw(): void {
    if (this.value === this.drawn || !this.value) return;
    this.drawn = this.value;
    this.figure.show(histogramOf(this.value));
    this.more.textContent = outside(this.value.column);
  }
}

export function data(): View {
  let form: Form = "density";
  let isLog = false;
  let text = "";
  let chosen = "";
  let shown: Shown | undefined;
  const isOther = changes();
  const select = new Select("data of", (value) => ((chosen = value), draw()));
  const status = html("span", { class: "soft", role: "status" });
  const keys = html("div", { class: "key" });
  const message = html("div");
  const controls = toolbar(
    select.element,
    search("Search columns", (value) => ((text = value), draw())),
    choice<Form>("heights", { density: "Normalized", counts: "Counts" }, form, (value) => ((form = value), draw())),
    toggle("log scale", isLog, (value) => ((isLog = value), draw())),
    status,
  );
  const columns = new Keyed<ShownColumn>(
    html("div", { class: "grid columns" }),
    ({ column }) => column.name,
    ({ column }) => new ColumnPart(column.name, column.name === kFirst),
  );

  function draw() {
    const runs = (shown?.runs ?? []).filter(columnsOf);
    controls.hidden = keys.hidden = !runs.length;
    chosen = select.offer(
      runs.map(({ run }) => [run.name, run.name.slice(0, 60)]),
      chosen,
    );
    const run = runs.find((each) => each.run.name === chosen);
    const of = run && columnsOf(run);
    const features = (of?.features ?? []).filter(({ name }) => name.toLowerCase().includes(text));
    const ordered = [
      ...features.filter(({ name }) => name === kFirst),
      ...features.filter(({ name }) => name !== kFirst),
    ];
    const names = of ? classNames(of.classes, of.features[0]?.weights.length ?? 0) : [];
    keys.replaceChildren(
      ...(names.length > 1 ? names.map((name, k) => html("span", {}, areaSwatch(classSeries(k)), named(name))) : []),
    );
    const isPart = of && features.length < of.features.length;
    const found = of
      ? isPart
        ? `${plural(features.length, "column")} found of ${count(of.features.length)}`
        : plural(of.features.length, "column")
      : "";
    status.textContent = of?.left_out
      ? `${found}; ${count(of.left_out)} are left out: those of least importance, or the last ones`
      : found;
    columns.show(ordered.map((column) => ({ column, classes: of!.classes, form, isLog })));
  }
  return {
    element: html("div", {}, controls, keys, message, columns.element),
    show(now) {
      shown = now;
      const runs = now.runs.filter(columnsOf);
      message.replaceChildren(
        ...missing(
          now,
          !runs.length,
          `Histograms come ${kAtItsEnd}`,
          "No columns here: `podere train gbt DATA --report out.html` keeps their histograms.",
        ),
      );
      if (isOther(runs)) draw();
    },
  };
}
