/** Reads a document: a report, or one line that says why there is none. */
import { checked, dictionary, flag, list, name, number, numbers, oneOf, record, text, type Damage, type Decode } from "./decode";
import {
  kDocumentVersion,
  kTaskFigures,
  type Column,
  type Columns,
  type Curve,
  type Described,
  type Event,
  type Figures,
  type Importance,
  type Label,
  type Loss,
  type Measured,
  type Metrics,
  type Model,
  type Phase,
  type Report,
  type Residuals,
  type Result,
  type Run,
  type Scores,
  type PointsOfFeature,
  type Shap,
  type ShapPoints,
  type TaskFigure,
  type Tasks,
} from "./report";
import { study } from "./study";
import { search } from "./trials";

/** What came of reading. `damage` lists the parts that were left out. */
export type Reading = { report: Report; damage: Damage } | { problem: string };

const sameLengths = (lists: unknown[][]) => lists.every((each) => each.length === lists[0]?.length);

const phase = record<Phase>({ phase: text, begin: number, end: number }, ["phase", "begin", "end"]);

/** A list that does not keep to its rule is empty. */
function checkedList<T>(decode: Decode<T[]>, rule: (value: T[]) => boolean): Decode<T[]> {
  const decodeChecked = checked(decode, rule);
  return (value, path, damage) => decodeChecked(value, path, damage) ?? [];
}

const curve = checked(
  record<Curve>(
    { phase: text, unit: text, total: number, done: numbers, seconds: numbers, metrics: dictionary(numbers) },
    ["phase", "unit", "done", "seconds", "metrics"],
  ),
  (each) => sameLengths([each.done, each.seconds, ...Object.values(each.metrics)]),
);

const event = record<Event>({ seconds: number, message: text }, ["seconds", "message"]);

const loss = record<Loss>({
  executor: text,
  how: text,
  at: text,
  phase: text,
  executors_left: number,
  seconds_lost: number,
  lost_at_seconds: number,
  back_at_seconds: number,
});

const figures = record<Figures>({
  phase: text,
  elapsed_seconds: number,
  run_seconds: number,
  wait_seconds: number,
  cpu_seconds: number,
  read_seconds: number,
  write_seconds: number,
  decode_seconds: number,
  bytes_read: number,
  bytes_written: number,
  bytes_sent: number,
  rows_read: number,
  rows_written: number,
  peak_memory_bytes: number,
  energy_joules: number,
  skew: number,
  slowest_executor: number,
  retries: number,
  lost_seconds: number,
});

const tasks: Decode<Tasks> = (value, path, damage) => {
  if (value === null || value === undefined) return undefined;
  if (!Array.isArray(value)) {
    damage.push(path);
    return undefined;
  }
  const good = value.filter((task) => typeof task?.phase === "string" && Number.isInteger(task.executor));
  if (good.length < value.length) damage.push(`${path} (${value.length - good.length} of ${value.length} tasks)`);
  const places = new Map<string, number>();
  for (const task of good) if (!places.has(task.phase)) places.set(task.phase, places.size);
  const column = (figure: TaskFigure) =>
    Float64Array.from(good, (task) => (typeof task[figure] === "number" ? task[figure] : NaN));
  return {
    count: good.length,
    phaseNames: [...places.keys()],
    phase: Uint16Array.from(good, (task) => places.get(task.phase) ?? 0),
    executor: Int32Array.from(good, (task) => task.executor),
    host: good.map((task) => (typeof task.host === "string" ? task.host : "")),
    figures: Object.fromEntries(kTaskFigures.map((figure) => [figure, column(figure)])) as Tasks["figures"],
  };
};

const metrics = record<Metrics>({ job: figures, phases: list(figures), tasks });

const shap = record<Shap>({ name: text, mean_abs_shap: number, permutation_mean: number }, ["name"]);

const shapPoints = record<ShapPoints>(
  {
    rows: number,
    features: list(
      checked(
        record<PointsOfFeature>({ name: text, is_category: flag, shap: numbers, places: numbers }, ["name"]),
        ({ shap, places }) => shap.length === places.length,
      ),
    ),
  },
  ["rows"],
);

const described = record<Described>(
  { name: text, minimum: number, maximum: number, missing: number, histogram: numbers },
  ["name"],
);

/** `features` is a count in most results, and a list in that of explain. */
const count: Decode<number> = (value, path, damage) =>
  Array.isArray(value) ? value.length : number(value, path, damage);

const plainResult = record<Omit<Result, "shap" | "described" | "search">>({
  rows: number,
  training_rows: number,
  validation_rows: number,
  features: count,
  objective: text,
  trees: number,
  rounds_run: number,
  layers: text,
  weights: number,
  epochs_run: number,
  best_round: number,
  best_epoch: number,
  stopped_early: flag,
  loss: number,
  validation_loss: number,
  validation_auc: number,
  validation_accuracy: number,
  executors: number,
  cores: number,
  peak_memory_bytes: number,
  warning: text,
  label: record<Label>({ column: text, kind: text }),
  losses: list(loss),
  metrics,
});

const result: Decode<Result> = (value, path, damage) => {
  const plain = plainResult(value, path, damage);
  if (!plain) return undefined;
  const { features, columns, trials } = value as Record<string, unknown>;
  const found = trials === undefined ? undefined : search(value, path, damage);
  return {
    ...plain,
    ...(found ? { search: found } : {}),
    shap: Array.isArray(features) ? (list(shap)(features, `${path}.features`, damage) ?? []) : [],
    described: Array.isArray(columns) ? (list(described)(columns, `${path}.columns`, damage) ?? []) : [],
  };
};

const importance = record<Importance>({ feature: text, gain: number, splits: number }, ["feature"]);

const model = record<Model>({ sha256: text, objective: text, classes: list(name), importance: list(importance) });

const scores = checked(
  record<Scores>({ bins: number, weights: list(numbers), squares: list(numbers) }, ["bins", "weights"]),
  ({ bins, weights, squares }) =>
    bins > 0 &&
    weights.length > 0 &&
    (!squares.length || squares.length === weights.length) &&
    [...weights, ...squares].every((of) => of.length === bins),
);

const residuals = checked(
  record<Residuals>({ edges: numbers, weights: numbers }, ["edges", "weights"]),
  ({ edges: [low = NaN, high = NaN], weights }) => high > 0 && low === -high && weights.length > 0,
);

const measured = record<Measured>(
  {
    rows: text,
    data: text,
    n_rows: number,
    auc: number,
    accuracy: number,
    log_loss: number,
    root_mean_squared_error: number,
    mean_absolute_error: number,
    mean_poisson_deviance: number,
    pinball_loss: number,
    confusion: checkedList(list(numbers), (matrix) => matrix.every((row) => row.length === matrix.length)),
    roc: checkedList(list(numbers), (points) => points.every((point) => point.length === 3)),
    scores,
    residuals,
  },
  ["rows"],
);

const column = checked(
  record<Column>(
    {
      name: text,
      low: number,
      high: number,
      weights: list(numbers),
      below: numbers,
      above: numbers,
      missing: numbers,
      categories: list(name),
    },
    ["name", "low", "high", "weights"],
  ),
  (each) =>
    each.high >= each.low && sameLengths(each.weights) && [0, each.weights[0]?.length].includes(each.categories.length),
);

const columns = record<Columns>({ classes: list(name), features: list(column), left_out: number });

const run = record<Run>(
  {
    name: text,
    command: text,
    arguments: text,
    began: text,
    seconds: number,
    state: oneOf("done", "interrupted", "running", "failed", "cancelled"),
    phases: list(phase),
    curves: list(curve),
    events: list(event),
    result,
    model,
    measured: list(measured),
    columns,
    shap_points: shapPoints,
  },
  ["name", "command"],
);

/** What evaluate prints has the measures of its rows, if nothing more was kept of them. */
function withMeasures(run: Run, { result }: { result?: unknown }): Run {
  if (run.command !== "evaluate" || run.measured.length || !result) return run;
  const { rows, ...measures } = result as Record<string, unknown>;
  const found = measured({ ...measures, rows: "test", n_rows: rows }, "result", []);
  return found ? { ...run, measured: [found] } : run;
}

export const readRun: Decode<Run> = (value, path, damage) => {
  const decoded = run(value, path, damage);
  return decoded && withMeasures(decoded, value as { result?: unknown });
};

/** Names are keys: a second run of the same name gets a number. */
function withUniqueNames(runs: Run[]): Run[] {
  const taken = new Set<string>();
  return runs.map((each) => {
    let unique = each.name;
    for (let i = 2; taken.has(unique); ++i) unique = `${each.name} (${i})`;
    taken.add(unique);
    return { ...each, name: unique };
  });
}

export function readDocument(document: unknown): Reading {
  if (document === null) {
    return { problem: "This page has no report in it. Write one by: podere report FILES -o out.html" };
  }
  const form = (document as { podere_report?: unknown })?.podere_report;
  if (typeof form !== "number") {
    return { problem: "This file holds no report of Podere. Write it anew by: podere report FILES -o out.html" };
  }
  if (form > kDocumentVersion) {
    const { version } = document as { version?: unknown };
    const by = typeof version === "string" ? `Podere ${version.slice(0, 20)}` : "a newer Podere";
    return {
      problem:
        `This report was written by ${by}, in form ${form}, and this page shows forms up to ${kDocumentVersion}. ` +
        "Write the page anew with that Podere: podere report FILES -o out.html",
    };
  }
  const { version, runs, studies } = document as { version?: unknown; runs?: unknown; studies?: unknown };
  if (!Array.isArray(runs)) {
    return {
      problem: "This report is damaged: its list of runs is missing. Write it anew by: podere report FILES -o out.html",
    };
  }
  const damage: Damage = [];
  const read = withUniqueNames(list(readRun)(runs, "runs", damage) ?? []);
  const readStudies = list(study)(studies, "studies", damage) ?? [];
  return { report: { runs: read, studies: readStudies, ...(typeof version === "string" ? { version } : {}) }, damage };
}

export function readText(json: string): Reading {
  try {
    return readDocument(JSON.parse(json));
  } catch {
    return {
      problem:
        "This report is damaged: its text ends early or was changed. Write it anew by: podere report FILES -o out.html",
    };
  }
}
