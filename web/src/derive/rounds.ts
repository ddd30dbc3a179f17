/** Curves over rounds. */
import type { Curve } from "../report";

/** In the order of rounds. After a loss some rounds are run again: what they gave last counts. */
export function byRound(curve: Curve): Curve {
  const { done } = curve;
  if (done.every((round, i) => i === 0 || round > done[i - 1]!)) return curve;
  const last = new Map(done.map((round, i) => [round, i]));
  const places = [...last.keys()].sort((a, b) => a - b).map((round) => last.get(round)!);
  const pick = (values: number[]) => places.map((i) => values[i]!);
  const metrics = Object.fromEntries(Object.entries(curve.metrics).map(([name, values]) => [name, pick(values)]));
  return { ...curve, done: pick(done), seconds: pick(curve.seconds), metrics };
}
