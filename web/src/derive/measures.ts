/** The measures of a run that still grow: the newest value of each, and the best. */
import { words } from "../format";
import type { Run } from "../report";
import { inRounds } from "./rounds";

export interface Growing {
  metric: string;
  title: string;
  unit: string;
  values: number[];
  first: number;
  last: number;
  /** How many rounds there are so far. */
  rounds: number;
  best: number;
  /** In which round. */
  bestAt: number;
}

/** Whether smaller is better. */
export const isLoss = (metric: string) => !/auc|accuracy/.test(metric);
/** Of validation first: it says how good the model is. */
const rank = (metric: string) =>
  (metric.startsWith("validation") ? 0 : 10) + (/auc/.test(metric) ? 0 : /accuracy/.test(metric) ? 1 : 2);

export function growing(run: Run | undefined): Growing[] {
  const steps = run?.curves.at(-1);
  if (!steps) return [];
  const rounds = inRounds(steps);
  const curve = rounds.done.length ? rounds : steps;
  return Object.entries(curve.metrics)
    .filter(([metric]) => metric !== "epoch")
    .sort(([a], [b]) => rank(a) - rank(b))
    .flatMap(([metric, values]) => {
      const first = values.find(Number.isFinite);
      const last = values.findLast(Number.isFinite);
      if (first === undefined || last === undefined) return [];
      let best = values.indexOf(first);
      values.forEach((value, i) => {
        if (isLoss(metric) ? value < values[best]! : value > values[best]!) best = i;
      });
      return [
        {
          metric,
          title: words(metric),
          unit: curve.unit,
          values,
          first,
          last,
          rounds: curve.done.at(-1) ?? 0,
          best: values[best]!,
          bestAt: curve.done[best]!,
        },
      ];
    });
}
