/** Whether a predicted probability of 0.8 comes true in 80 % of rows. */
import type { Scores } from "../report";
import { sum } from "./bins";

export interface CalibrationBin {
  /** Mean predicted probability of class 1, by the centers of the finer bins. */
  predicted: number;
  /** Share of class 1. */
  observed: number;
  weight: number;
  /** Standard error of `observed`. */
  error: number;
}

export interface Calibration {
  bins: CalibrationBin[];
  /** Mean distance between predicted and observed, by weight. */
  error: number;
}

const kBins = 20;

/** Bins whose weights add up to nothing, or to less, have no share and are left out. */
export function calibrationOf({ bins, weights, squares }: Scores): Calibration {
  const [negative = [], positive = []] = weights;
  const [negativeSquares = [], positiveSquares = []] = squares.length ? squares : weights;
  const width = bins / Math.min(kBins, bins);
  const result: CalibrationBin[] = [];
  for (let begin = 0; begin < bins; begin += width) {
    const inside = Array.from({ length: bins }, (_, i) => i).filter((i) => i >= begin && i < begin + width);
    const both = inside.map((i) => negative[i]! + positive[i]!);
    const weight = sum(both);
    if (!(weight > 0)) continue;
    const observed = sum(inside.map((i) => positive[i]!)) / weight;
    const predicted = sum(inside.map((i, j) => ((i + 0.5) / bins) * both[j]!)) / weight;
    // As of so many rows of equal weight.
    const square = sum(inside.map((i) => negativeSquares[i]! + positiveSquares[i]!));
    const error = Math.sqrt(Math.max(0, observed * (1 - observed) * square)) / weight;
    result.push({ predicted, observed, weight, error });
  }
  const total = sum(result.map(({ weight }) => weight));
  const error = sum(result.map((bin) => bin.weight * Math.abs(bin.predicted - bin.observed))) / total;
  return { bins: result, error };
}
