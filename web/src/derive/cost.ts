/** When each executor did what: phases begin together, and each task ends by itself. */
import type { Phase, Run, Tasks } from "../report";

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
  /** Those that finished the job. */
  executors: ExecutorLine[];
  /** When each phase ran, on any executor, those before a loss too. */
  phases: Phase[];
  end: number;
}

export interface ExecutorLine {
  executor: number;
  host: string;
  spans: Span[];
  run: number;
  wait: number;
}

const orZero = (value: number | undefined) => (value !== undefined && value > 0 ? value : 0);
export const lengthOf = (span: Span) => span.read + span.compute + span.wait;

/**
 * Calls that read and write files are summed over the threads of an executor: divided by its cores they are a part of the
 * run on the clock.
 */
function spanOf(tasks: Tasks, i: number, cores: number): Span {
  const run = orZero(tasks.figures.run_seconds[i]);
  const files = (orZero(tasks.figures.read_seconds[i]) + orZero(tasks.figures.write_seconds[i])) / cores;
  const read = Math.min(run, files);
  return { phase: tasks.phase[i]!, begin: NaN, read, compute: run - read, wait: orZero(tasks.figures.wait_seconds[i]) };
}

/**
 * Figures are of the group that finished the job: after a loss its phases are the last ones of each name. Where the
 * document has no begin of a phase, its task follows the one before.
 */
function place(spans: Span[], begins: number[][]): void {
  const left = new Map<number, number>();
  for (const { phase } of spans) left.set(phase, (left.get(phase) ?? 0) + 1);
  let after = 0;
  for (const span of spans) {
    const fromEnd = left.get(span.phase)!;
    left.set(span.phase, fromEnd - 1);
    span.begin = begins[span.phase]?.at(-fromEnd) ?? after;
    after = span.begin + lengthOf(span);
  }
}

/** When the phases ran, as far as tasks show it. */
function phasesOf(tasks: Tasks, lines: ExecutorLine[]): Phase[] {
  return (lines[0]?.spans ?? []).map(({ phase, begin }, i) => {
    const end = lines.reduce(
      (most, { spans }) => Math.max(most, spans[i] ? spans[i].begin + lengthOf(spans[i]) : 0),
      0,
    );
    return { phase: tasks.phaseNames[phase]!, begin, end };
  });
}

export function timeLineOf(run: Run): TimeLine | undefined {
  const tasks = run.result?.metrics?.tasks;
  if (!tasks?.count) return undefined;
  const cores = Math.max(1, run.result?.cores ?? 1);
  const lines = new Map<number, ExecutorLine>();
  for (let i = 0; i < tasks.count; ++i) {
    const executor = tasks.executor[i]!;
    const line = lines.get(executor) ?? { executor, host: tasks.host[i]!, spans: [], run: 0, wait: 0 };
    lines.set(executor, line);
    const span = spanOf(tasks, i, cores);
    line.spans.push(span);
    line.run += span.read + span.compute;
    line.wait += span.wait;
  }
  const begins = tasks.phaseNames.map((name) =>
    run.phases.filter(({ phase }) => phase === name).map(({ begin }) => begin),
  );
  const executors = [...lines.values()].sort((a, b) => a.executor - b.executor);
  for (const { spans } of executors) place(spans, begins);
  const phases = run.phases.length ? run.phases : phasesOf(tasks, executors);
  const ends = executors.map(({ spans }) =>
    spans.reduce((most, span) => Math.max(most, span.begin + lengthOf(span)), 0),
  );
  return {
    phaseNames: tasks.phaseNames,
    executors,
    phases,
    end: [...ends, ...phases.map(({ end }) => end)].reduce((a, b) => Math.max(a, b), 0),
  };
}
