/** What a view shows of the trials of a search. */
import { kShades } from "../parts/swatch";
import type { Search, Trial } from "../trials";
import { isLoss } from "./measures";
import { ranks } from "./ranks";

export interface Scored {
  trial: Trial;
  score: number;
}

/** As podere tune compares its trials. */
export const isMaximized = ({ score }: Search) => score !== undefined && !isLoss(score);

const isBetter = (search: Search, a: number, b: number) => (isMaximized(search) ? a > b : a < b);

/** What trials are trained for: "tree", "epoch". */
export function unitOf({ trials }: Search): string {
  const facts = trials.find(({ score }) => score !== undefined)?.facts;
  return facts?.trees !== undefined ? "tree" : facts?.epochs !== undefined ? "epoch" : "round";
}

export const scoredOf = (trials: Trial[]): Scored[] =>
  trials.flatMap((trial) => (trial.score === undefined ? [] : [{ trial, score: trial.score }]));

/** Of equal ones the first. */
export const bestOf = (search: Search) =>
  scoredOf(search.trials).reduce<Scored | undefined>(
    (best, each) => (!best || isBetter(search, each.score, best.score) ? each : best),
    undefined,
  );

/** After each trial, by number, the best score so far; NaN before there is one. */
export function bestSoFar(search: Search): { trial: Trial; best: number }[] {
  let best = NaN;
  return [...search.trials]
    .sort((a, b) => a.trial - b.trial)
    .map((trial) => {
      const { score } = trial;
      if (score !== undefined && (Number.isNaN(best) || isBetter(search, score, best))) best = score;
      return { trial, best };
    });
}

/** Fifths of the trials by score: the best have the last shade, those without a score one of their own. */
export function shadesOf(search: Search): Map<Trial, number> {
  const places = ranks(search.trials.map(({ score = NaN }) => (isMaximized(search) ? score : -score)));
  return new Map(
    search.trials.map((trial, i) => [
      trial,
      Number.isNaN(places[i]) ? kShades : Math.min(kShades - 1, Math.floor(places[i]! * kShades)),
    ]),
  );
}

/** After how many rounds trials were measured, from few to many. */
export const budgetsOf = (trials: Trial[]) =>
  [...new Set(trials.flatMap(({ curve }) => curve.map(([budget]) => budget!)))].sort((a, b) => a - b);

/** By rounds, from few to many, the scores after them. A trial that is complete, as it stopped early, keeps its last score. */
export function scoresByBudget({ trials }: Search): Map<number, Scored[]> {
  const points = (trial: Trial) => (trial.curve.length ? trial.curve : [[trial.budget ?? NaN, trial.score ?? NaN]]);
  const budgets = new Set(trials.flatMap((trial) => points(trial).map(([budget]) => budget!)).filter(Number.isFinite));
  const scoreAt = (trial: Trial, budget: number) => {
    const last = trial.state === "complete" ? trial.curve.at(-1) : undefined;
    return points(trial).find(([at]) => at === budget)?.[1] ?? (last && last[0]! < budget ? last[1]! : NaN);
  };
  return new Map(
    [...budgets]
      .sort((a, b) => a - b)
      .map((budget) => [
        budget,
        trials.map((trial) => ({ trial, score: scoreAt(trial, budget) })).filter(({ score }) => Number.isFinite(score)),
      ]),
  );
}

/** Fewer say little of which options matter. */
export const kManyTrials = 20;

/** The most rounds after which many trials were measured, else those after which most were. */
export function comparedBudget(scores: Map<number, Scored[]>): number {
  const most = Math.max(...[...scores.values()].map((of) => of.length));
  return [...scores].findLast(([, of]) => of.length >= Math.min(kManyTrials, most))?.[0] ?? NaN;
}

/** From the worst score to the best, but without those that are worse by far: more than three quartile ranges from the rest. */
export function scoreRange(search: Search, scores: number[]): [number, number] {
  const sorted = scores.filter(Number.isFinite).sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] ?? NaN;
  const [low, first, third, high] = [at(0), at(0.25), at(0.75), at(1)];
  const reach = third > first ? 3 * (third - first) : Infinity;
  const ends: [number, number] = isMaximized(search)
    ? [Math.max(low, first - reach), high]
    : [low, Math.min(high, third + reach)];
  const margin = 0.04 * (ends[1] - ends[0]) || Math.abs(low) / 10 || 1;
  return [ends[0] - margin, ends[1] + margin];
}
