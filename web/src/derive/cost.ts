/** When each executor did what: phases begin together, and each task ends by itself. */
import type { Run, Tasks } from "../report";

export interface Span {
  phase: number;
  begin: number;
  /** Seconds of each, one after the other. */
  read: number;
  compute: number;
  wait: number;
}

export interface TimeLine {
  phaseNames: string[];
  executors: ExecutorLine[];
  /** When each phase ran, on any executor. */
  phases: { phase: number; begin: number; end: number }[];
  end: number;
}

export interface ExecutorLine {
  executor: number;
  host: string;
  spans: Span[];
  run: number;
  wait: number;
}

/** Phases by name in the order in which they came; a name that came again counts up. */
function beginsOf(run: Run): Map<string, number[]> {
  const begins = new Map<string, number[]>();
  for (const { phase, begin } of run.phases) begins.set(phase, [...(begins.get(phase) ?? []), begin]);
  return begins;
}

const orZero = (value: number | undefined) => (value !== undefined && value > 0 ? value : 0);

/**
 * Calls that read and write files are summed over the threads of an executor: divided by its cores they are a part of the
 * run on the clock. Where the document has no begin of a phase, its task follows the one before.
 */
function spanOf(tasks: Tasks, i: number, cores: number, begin: number): Span {
  const run = orZero(tasks.figures.run_seconds[i]);
  const files = (orZero(tasks.figures.read_seconds[i]) + orZero(tasks.figures.write_seconds[i])) / cores;
  const read = Math.min(run, files);
  return { phase: tasks.phase[i]!, begin, read, compute: run - read, wait: orZero(tasks.figures.wait_seconds[i]) };
}

export const lengthOf = (span: Span) => span.read + span.compute + span.wait;

export function timeLineOf(run: Run): TimeLine | undefined {
  const tasks = run.result?.metrics?.tasks;
  if (!tasks?.count) return undefined;
  const begins = beginsOf(run);
  const cores = Math.max(1, run.result?.cores ?? 1);
  const lines = new Map<number, ExecutorLine>();
  const seen = new Map<string, number>();
  const phases = new Map<string, TimeLine["phases"][number]>();
  for (let i = 0; i < tasks.count; ++i) {
    const executor = tasks.executor[i]!;
    const line = lines.get(executor) ?? { executor, host: tasks.host[i]!, spans: [], run: 0, wait: 0 };
    lines.set(executor, line);
    const last = line.spans.at(-1);
    const name = tasks.phaseNames[tasks.phase[i]!]!;
    const again = seen.get(`${executor} ${name}`) ?? 0;
    seen.set(`${executor} ${name}`, again + 1);
    const after = last ? last.begin + lengthOf(last) : 0;
    const span = spanOf(tasks, i, cores, begins.get(name)?.[again] ?? after);
    line.spans.push(span);
    line.run += span.read + span.compute;
    line.wait += span.wait;
    const ran = phases.get(`${again} ${name}`) ?? { phase: span.phase, begin: Infinity, end: 0 };
    phases.set(`${again} ${name}`, { phase: span.phase, begin: Math.min(ran.begin, span.begin), end: Math.max(ran.end, span.begin + lengthOf(span)) });
  }
  return {
    phaseNames: tasks.phaseNames,
    executors: [...lines.values()].sort((a, b) => a.executor - b.executor),
    phases: [...phases.values()],
    end: Math.max(0, ...Array.from(phases.values(), (each) => each.end)),
  };
}
