/** The document that the page shows, as Podere writes it. Any part may be absent: a page shows what there is. */

import type { Study } from "./study";
import type { Search } from "./trials";

/** The newest form of documents that this page reads. */
export const kDocumentVersion = 1;

export interface Report {
  /** Of the Podere that wrote it. */
  version?: string;
  runs: Run[];
  /** Of a session: the number of each run's job. */
  jobs?: number[];
  /** Of podere scale. */
  studies?: Study[];
}

export type State = "done" | "interrupted" | "running" | "failed" | "cancelled";

/** One command that was run. */
export interface Run {
  /** Unique in the document. */
  name: string;
  command: string;
  /** The command line. */
  arguments?: string;
  /** UTC, as in 2026-11-27T18:45:12Z. */
  began?: string;
  seconds?: number;
  state?: State;
  /** Of the whole group, in order. */
  phases: Phase[];
  curves: Curve[];
  events: Event[];
  /** What the command prints with --json; while it runs, the score and trials of a search alone. */
  result?: Result;
  model?: Model;
  measured: Measured[];
  columns?: Columns;
  /** Of explain. */
  shap_points?: ShapPoints;
}

/** Seconds since the run began. */
export interface Phase {
  phase: string;
  begin: number;
  end: number;
}

/** What grew over rounds. All lists have the same length; NaN where there was no value. */
export interface Curve {
  phase: string;
  /** Such as tree or epoch. */
  unit: string;
  total?: number;
  done: number[];
  seconds: number[];
  metrics: Record<string, number[]>;
}

/** A warning. */
export interface Event {
  seconds: number;
  message: string;
}

/** The part of a command's result that the page reads by name; docs/command-line.md lists all. */
export interface Result {
  rows?: number;
  training_rows?: number;
  validation_rows?: number;
  features?: number;
  objective?: string;
  trees?: number;
  rounds_run?: number;
  layers?: string;
  weights?: number;
  epochs_run?: number;
  best_round?: number;
  best_epoch?: number;
  stopped_early?: boolean;
  loss?: number;
  validation_loss?: number;
  validation_auc?: number;
  validation_accuracy?: number;
  executors?: number;
  cores?: number;
  peak_memory_bytes?: number;
  warning?: string;
  label?: Label;
  losses: Loss[];
  metrics?: Metrics;
  /** Of explain. */
  shap: Shap[];
  /** Of describe. */
  described: Described[];
  /** Of tune. */
  search?: Search;
}

export interface Label {
  column?: string;
  kind?: string;
}

/** An executor that was lost. */
export interface Loss {
  executor?: string;
  how?: string;
  /** Such as "tree 13". */
  at?: string;
  phase?: string;
  executors_left?: number;
  seconds_lost?: number;
  lost_at_seconds?: number;
  back_at_seconds?: number;
}

/** What a job cost: docs/metrics.md. */
export interface Metrics {
  job?: Figures;
  phases: Figures[];
  tasks?: Tasks;
}

/** Of a job, or of a phase on all executors. */
export interface Figures {
  phase?: string;
  elapsed_seconds?: number;
  run_seconds?: number;
  wait_seconds?: number;
  cpu_seconds?: number;
  read_seconds?: number;
  write_seconds?: number;
  decode_seconds?: number;
  bytes_read?: number;
  bytes_written?: number;
  bytes_sent?: number;
  rows_read?: number;
  rows_written?: number;
  peak_memory_bytes?: number;
  energy_joules?: number;
  skew?: number;
  slowest_executor?: number;
  retries?: number;
  lost_seconds?: number;
}

/** The figures of each task, a list for each figure, since there may be 100,000 tasks. NaN where there is no value. */
export interface Tasks {
  count: number;
  /** Those that occur, in the order in which they first do. */
  phaseNames: string[];
  /** Of each task, its place in phaseNames. */
  phase: Uint16Array;
  executor: Int32Array;
  host: string[];
  figures: Record<TaskFigure, Float64Array>;
}

export const kTaskFigures = [
  "elapsed_seconds",
  "run_seconds",
  "wait_seconds",
  "cpu_seconds",
  "read_seconds",
  "write_seconds",
  "bytes_read",
  "bytes_written",
  "bytes_sent",
  "rows_read",
  "peak_memory_bytes",
] as const;
export type TaskFigure = (typeof kTaskFigures)[number];

export interface Shap {
  name: string;
  mean_abs_shap?: number;
  permutation_mean?: number;
}

/** SHAP values of some rows, and where the values of the features there are. */
export interface ShapPoints {
  rows: number;
  features: PointsOfFeature[];
}

export interface PointsOfFeature {
  name: string;
  is_category?: boolean;
  /** In their order, which is not that of rows. */
  shap: number[];
  /** Those of the feature's values among each other, from 0 to 1; NaN where it is missing. */
  places: number[];
}

export interface Described {
  name: string;
  minimum?: number;
  maximum?: number;
  missing?: number;
  histogram: number[];
}

export interface Model {
  sha256?: string;
  objective?: string;
  classes?: string[];
  /** Of trees. */
  importance: Importance[];
}

export interface Importance {
  feature: string;
  gain?: number;
  splits?: number;
}

/** How good a model is on some rows. */
export interface Measured {
  /** training, validation or test. */
  rows: string;
  data?: string;
  n_rows?: number;
  auc?: number;
  accuracy?: number;
  log_loss?: number;
  root_mean_squared_error?: number;
  mean_absolute_error?: number;
  mean_poisson_deviance?: number;
  pinball_loss?: number;
  /** Rows: true class, columns: predicted class. */
  confusion: number[][];
  /** [threshold, false positive rate, true positive rate] */
  roc: number[][];
  scores?: Scores;
  residuals?: Residuals;
}

/** For each class the sums of row weights by predicted probability of class 1, in equal bins from 0 to 1. */
export interface Scores {
  bins: number;
  weights: number[][];
  /** Of rows with weights, the sums of their squares: the variances of the sums. Empty: all weights are 1. */
  squares: number[][];
}

/** Label minus prediction, in equal bins between edges. */
export interface Residuals {
  edges: number[];
  weights: number[];
}

/** Histograms of the columns. */
export interface Columns {
  classes: string[];
  features: Column[];
  /** How many columns there are besides: those of least importance. */
  left_out?: number;
}

/** Each list has one entry for each class, or one if there are no classes. */
export interface Column {
  name: string;
  low: number;
  high: number;
  /** Sums of row weights, in equal bins from low to high. */
  weights: number[][];
  /** Sums of weights outside of the bins. */
  below: number[];
  above: number[];
  missing: number[];
  /** Of a column of texts, one for each bin. */
  categories: string[];
}
