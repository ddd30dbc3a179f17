/** Executors that were lost, and where on a curve. */
import type { Curve, Loss, Run } from "../report";

export interface LossMark {
  loss: Loss;
  /** In the unit of the curve, and in seconds since the run began; NaN if it is not known. */
  done: number;
  seconds: number;
}

/** Those of its result or, where it has none yet or never will, those that its warnings report. */
export function lossesOf(run: Run): Loss[] {
  if (run.result?.losses.length) return run.result.losses;
  return run.events.flatMap(({ message }) => {
    const [, executor, how, at] = /^lost (.+?) \((.+?)\) at (.+?); /.exec(message) ?? [];
    return executor && how && at ? [{ executor, how, at }] : [];
  });
}

/** "tree 13" of a curve over trees. */
function roundOf(loss: Loss, curve: Curve): number {
  const found = /(\d[\d,]*)\s*$/.exec(loss.at ?? "");
  if (found) return Number(found[1]!.replaceAll(",", ""));
  const at = curve.seconds.findIndex((seconds) => seconds >= (loss.lost_at_seconds ?? Infinity));
  return at < 0 ? NaN : (curve.done[at] ?? NaN);
}

/**
 * Losses have their times since the job began; runs, which the rest is measured from, begin a little earlier. The warning
 * of a loss, which comes once the job is back, has both.
 */
function sinceRun(run: Run, loss: Loss): number {
  const warning = run.events.find(
    ({ seconds, message }) =>
      message.startsWith(`lost ${loss.executor} `) && seconds >= (loss.back_at_seconds ?? Infinity),
  );
  return (loss.lost_at_seconds ?? NaN) + (warning ? warning.seconds - loss.back_at_seconds! : 0);
}

export function lossMarks(run: Run, curve: Curve): LossMark[] {
  return lossesOf(run)
    .filter(({ phase }) => phase === undefined || phase === curve.phase)
    .map((loss) => ({ loss, done: roundOf(loss, curve), seconds: sinceRun(run, loss) }));
}

/** Time that losses cost. */
export const secondsLost = (run: Run) =>
  (run.result?.losses ?? []).reduce((total, { seconds_lost }) => total + (seconds_lost ?? 0), 0);
