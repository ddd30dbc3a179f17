/** How much of the differences between trials an option explains by itself. */
import type { Trial } from "../trials";
import { placeOf, type Option } from "./options";
import { ranks } from "./ranks";
import type { Scored } from "./trials";

/** Of fewer trials there is none. */
export const kLeastTrials = 10;
const kMostGroups = 5;
const kTrialsPerGroup = 5;

const nGroups = (n: number) => Math.min(kMostGroups, Math.max(2, Math.floor(n / kTrialsPerGroup)));

/**
 * The group of each trial: one for each category and for trials without the option; of numbers up to five with about as
 * many trials, where equal values are in the same group.
 */
export function groupsOf(option: Option, trials: Trial[]): number[] {
  const places = trials.map((trial) => placeOf(option, trial));
  if (option.categories.length) return places.map((place) => (Number.isNaN(place) ? -1 : place));
  const n = nGroups(trials.length);
  return ranks(places).map((rank) => (Number.isNaN(rank) ? -1 : Math.min(n - 1, Math.floor(rank * n))));
}

/**
 * Kruskal and Wallis' effect size η²(H) = (H − k + 1) / (n − k) of n trials in k groups: the share of the variance of the
 * ranks of scores that lies between the groups, less what chance would put there. At least 0; NaN for one group.
 */
export function importanceOf(option: Option, scored: Scored[]): number {
  const groups = groupsOf(
    option,
    scored.map(({ trial }) => trial),
  );
  const of = ranks(scored.map(({ score }) => score));
  const n = of.length;
  const mean = of.reduce((sum, rank) => sum + rank, 0) / n;
  const sums = new Map<number, [sum: number, count: number]>();
  groups.forEach((group, i) => {
    const [sum, count] = sums.get(group) ?? [0, 0];
    sums.set(group, [sum + of[i]! - mean, count + 1]);
  });
  const total = of.reduce((sum, rank) => sum + (rank - mean) ** 2, 0);
  const between = [...sums.values()].reduce((all, [sum, count]) => all + sum ** 2 / count, 0);
  if (sums.size < 2 || n <= sums.size || total === 0) return NaN;
  return Math.max(0, 1 - ((1 - between / total) * (n - 1)) / (n - sums.size));
}
