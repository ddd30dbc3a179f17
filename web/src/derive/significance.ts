/** What a cut on the score leaves: expected counts of signal s and background b, and how significant s is over b. */
import type { Scores } from "../report";
import { sumsAbove } from "./bins";

/** Of the HiggsML challenge: keeps AMS from favoring cuts that leave almost nothing. */
export const kRegularization = 10;

/** A cut is a candidate for the best if it leaves about so many rows of background; below, s / sqrt(b) is chance. */
export const kLeastBackgroundRows = 25;

/**
 * Approximate median significance, sqrt(2 ((s + b + b_reg) ln(1 + s / (b + b_reg)) - s)): Cowan, Cranmer, Gross, Vitells,
 * Eur. Phys. J. C 71 (2011) 1554, with the regularization of the HiggsML challenge. NaN where it is not defined: for
 * negative s, or where weights leave no background.
 */
export function ams(s: number, b: number, regularization = kRegularization): number {
  const noise = b + regularization;
  if (s < 0 || noise <= 0) return NaN;
  return Math.sqrt(Math.max(0, 2 * ((s + noise) * Math.log1p(s / noise) - s)));
}

export function signalOverRoot(s: number, b: number): number {
  return b > 0 ? s / Math.sqrt(b) : NaN;
}

export interface Cut {
  /** Rows whose score is at least this are kept. */
  threshold: number;
  s: number;
  b: number;
  signalEfficiency: number;
  backgroundEfficiency: number;
  significance: number;
  ams: number;
}

export interface Cuts {
  cuts: Cut[];
  best: { significance: Cut | undefined; ams: Cut | undefined };
}

/** Of each edge of the bins. Counts are sums of weights times the factors; `rows` is how many rows the scores are of. */
export function cutsOf(scores: Scores, factors: { s: number; b: number }, rows: number | undefined): Cuts {
  const [background = [], signal = []] = scores.weights.map(sumsAbove);
  const [allSignal, allBackground] = [signal[0] ?? 0, background[0] ?? 0];
  const cuts = signal.map((kept, i): Cut => {
    const [s, b] = [kept * factors.s, (background[i] ?? 0) * factors.b];
    return {
      threshold: i / scores.bins,
      s,
      b,
      signalEfficiency: kept / allSignal,
      backgroundEfficiency: (background[i] ?? 0) / allBackground,
      significance: signalOverRoot(s, b),
      ams: ams(s, b),
    };
  });
  const meanWeight = rows ? (allSignal + allBackground) / rows : 1;
  const enough = kLeastBackgroundRows * Math.max(meanWeight, 0) * factors.b;
  return {
    cuts,
    best: {
      significance: largest(
        cuts.filter(({ b }) => b >= enough),
        (cut) => cut.significance,
      ),
      ams: largest(cuts, (cut) => cut.ams),
    },
  };
}

function largest<T>(values: T[], of: (value: T) => number): T | undefined {
  let best: T | undefined;
  for (const value of values) if (of(value) > (best === undefined ? 0 : of(best))) best = value;
  return best;
}
