/** Curves over rounds: trees, epochs, iterations. */
import type { Curve } from "../report";

const kEpoch = "epoch";

function pick(curve: Curve, places: number[]): Curve {
  const of = (values: number[]) => places.map((i) => values[i]!);
  const metrics = Object.fromEntries(Object.entries(curve.metrics).map(([name, values]) => [name, of(values)]));
  return { ...curve, done: of(curve.done), seconds: of(curve.seconds), metrics };
}

/** Networks report each step, and how many epochs are complete; what they measure changes with the epoch only. */
function byEpoch(curve: Curve): Curve {
  const epochs = curve.metrics[kEpoch];
  if (!epochs) return curve;
  const first = pick(
    curve,
    [...epochs.keys()].filter((i) => Number.isFinite(epochs[i]) && epochs[i] !== epochs[i - 1]),
  );
  const { [kEpoch]: done = [], ...metrics } = first.metrics;
  return { ...first, unit: kEpoch, done, metrics };
}

/** In the order of rounds. If rounds were run again after a loss, what they gave last counts. */
export function inRounds(steps: Curve): Curve {
  const curve = byEpoch(steps);
  const { done } = curve;
  if (done.every((round, i) => i === 0 || round > done[i - 1]!)) return curve;
  const last = new Map(done.map((round, i) => [round, i]));
  return pick(
    curve,
    [...last.keys()].sort((a, b) => a - b).map((round) => last.get(round)!),
  );
}
