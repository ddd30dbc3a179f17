/** What is shown: the runs that are selected, each with its color, and those of one model together. */
import type { Measured, Report, Run } from "../report";

/** Colors that differ for color-blind readers, too, by their places in style.css: of runs, and of classes, which rarely meet. */
const kRunSeries = [0, 4, 3, 2, 6, 5, 1];
const kClassSeries = [5, 1, 2, 3, 4, 0, 6];

export const classSeries = (k: number) => kClassSeries[k % kClassSeries.length]!;

export interface ShownRun {
  run: Run;
  /** By which addresses and the list of runs know it: that of its job in a session, otherwise its place in the report. */
  number: number;
  /** Its color. An evaluation has that of its model's training. */
  series: number;
}

/** All runs with the same model: its training, its evaluation on test rows. */
export interface ModelGroup {
  key: string;
  title: string;
  series: number;
  runs: ShownRun[];
  measured: ShownMeasured[];
  classes: string[];
}

export interface ShownMeasured {
  measured: Measured;
  /** Such as "test" or, if there are several, "test (higgs.csv)". */
  title: string;
  series: number;
}

export interface Shown {
  runs: ShownRun[];
  models: ModelGroup[];
  /** How many runs the document has, shown or not. */
  total: number;
  /** More may come. */
  isLive: boolean;
}

/** Training first: later rows are drawn over it. */
const kOrder = ["training", "validation", "test"];
const order = ({ measured }: ShownMeasured) =>
  kOrder.indexOf(measured.rows) + (kOrder.includes(measured.rows) ? 0 : 10);

const isTraining = (run: Run) => run.command === "train";
const keyOf = (run: Run) => run.model?.sha256 ?? `run ${run.name}`;

/** Colors depend on all runs, so that they stay while some are hidden. */
export function colored({ runs, jobs }: Report): ShownRun[] {
  const ofModel = new Map<string, number>();
  let next = 0;
  const give = (run: Run) => {
    const series = kRunSeries[next++ % kRunSeries.length]!;
    if (!ofModel.has(keyOf(run))) ofModel.set(keyOf(run), series);
    return series;
  };
  const trained = new Map(runs.filter(isTraining).map((run) => [run, give(run)]));
  return runs.map((run, i) => ({
    run,
    number: jobs?.[i] ?? i + 1,
    series: trained.get(run) ?? ofModel.get(keyOf(run)) ?? give(run),
  }));
}

function groupOf(key: string, runs: ShownRun[]): ModelGroup {
  const first = runs.find(({ run }) => isTraining(run)) ?? runs[0]!;
  const all = runs.flatMap(({ run }) => run.measured);
  const isAlone = (measured: Measured) => all.filter(({ rows }) => rows === measured.rows).length < 2;
  const measured = all.map((each) => ({
    measured: each,
    title: isAlone(each) || !each.data ? each.rows : `${each.rows} (${each.data})`,
    series: first.series,
  }));
  measured.sort((a, b) => order(a) - order(b));
  return {
    key,
    title: first.run.name,
    series: first.series,
    runs,
    measured,
    classes:
      runs
        .map(({ run }) => (run.model?.classes?.length ? run.model.classes : (run.columns?.classes ?? [])))
        .find((names) => names.length) ?? [],
  };
}

export function shownOf(runs: ShownRun[], total: number, isLive: boolean): Shown {
  const groups = new Map<string, ShownRun[]>();
  for (const each of runs) groups.set(keyOf(each.run), [...(groups.get(keyOf(each.run)) ?? []), each]);
  return { runs, total, isLive, models: [...groups].map(([key, of]) => groupOf(key, of)) };
}

export const sameItems = (a: unknown[], b: unknown[]) => a.length === b.length && a.every((each, i) => each === b[i]);

/** Says whether these values are others than at the last time. */
export function changes(): (values: unknown[]) => boolean {
  let before: unknown[] | undefined;
  return (values) => {
    const isSame = before !== undefined && sameItems(before, values);
    before = values;
    return !isSame;
  };
}

/** The same objects as before for what has not changed, so that views leave it alone. */
export function keptRuns(before: ShownRun[], now: ShownRun[]): ShownRun[] {
  const old = new Map(before.map((each) => [each.run, each]));
  return now.map((each) => {
    const kept = old.get(each.run);
    return kept?.number === each.number && kept.series === each.series ? kept : each;
  });
}

export function keptModels(before: Shown | undefined, now: Shown): Shown {
  const old = new Map(before?.models.map((group) => [group.key, group]));
  const models = now.models.map((group) => {
    const kept = old.get(group.key);
    return kept && sameItems(kept.runs, group.runs) ? kept : group;
  });
  return { ...now, models };
}

/** The rows that say how good a model is on others than it has learned from, if there are any. */
export function bestEvidence(group: ModelGroup): ShownMeasured | undefined {
  return group.measured.findLast(({ measured }) => kOrder.includes(measured.rows)) ?? group.measured.at(-1);
}

/** Names of `n` classes, whatever the model says of them. */
export const classNames = (classes: string[], n: number) =>
  Array.from({ length: n }, (_, i) => classes[i] ?? String(i)).map((name) =>
    /^-?[\d.]+$/.test(name) ? `class ${name}` : name,
  );
