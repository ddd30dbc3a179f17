/** Sums over bins. */

export const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

/** Whether rows of two classes are there: without them there is nothing to separate. */
export const hasTwoClasses = (weights: number[][]) =>
  weights.length === 2 && weights.every((of) => of.some((weight) => weight !== 0));

/** Adds up neighbors, so that about `wanted` bins are left. The number of bins is divided without a rest. */
export function rebin(weights: number[], wanted: number): number[] {
  let width = Math.max(1, Math.round(weights.length / wanted));
  while (weights.length % width) --width;
  return Array.from({ length: weights.length / width }, (_, i) => sum(weights.slice(i * width, (i + 1) * width)));
}

/** As many bins over a range `times` as wide with the same middle; nothing if their edges do not meet. */
export function widened(weights: number[], times: number): number[] | undefined {
  const n = weights.length / times;
  const before = (weights.length - n) / 2;
  if (!Number.isInteger(times) || !Number.isInteger(n) || !Number.isInteger(before)) return undefined;
  const merged = Array.from({ length: n }, (_, i) => sum(weights.slice(i * times, (i + 1) * times)));
  return [...new Array<number>(before).fill(0), ...merged, ...new Array<number>(before).fill(0)];
}

/** From below: of each edge between bins the sum of what lies above it; one more than there are bins. */
export function sumsAbove(weights: number[]): number[] {
  const above = new Array<number>(weights.length + 1).fill(0);
  for (let i = weights.length - 1; i >= 0; --i) above[i] = above[i + 1]! + weights[i]!;
  return above;
}

/** Of the area 1 over the whole range; all 0 if nothing is there. */
export function normalized(weights: number[]): number[] {
  const total = sum(weights);
  return weights.map((weight) => (total > 0 ? weight / total : 0));
}

/** The largest distance between two cumulative distributions (of Kolmogorov and Smirnov), as far as bins show it. */
export function distributionDistance(a: number[], b: number[]): number {
  if (sum(a) <= 0 || sum(b) <= 0 || a.length !== b.length) return NaN;
  const [first, second] = [normalized(a), normalized(b)];
  let [distance, difference] = [0, 0];
  for (let i = 0; i < a.length; ++i) {
    difference += first[i]! - second[i]!;
    distance = Math.max(distance, Math.abs(difference));
  }
  return distance;
}
