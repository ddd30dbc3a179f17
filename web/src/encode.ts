/** Writes a report as a document again. */
import { kDocumentVersion, type Report, type Tasks } from "./report";

/** A task is an object there, and has no figures that are not known. */
function tasksOf({ count, phaseNames, phase, executor, host, figures }: Tasks): object[] {
  const columns = Object.entries(figures);
  return Array.from({ length: count }, (_, i) => ({
    phase: phaseNames[phase[i]!],
    executor: executor[i],
    host: host[i],
    ...Object.fromEntries(columns.map(([key, of]) => [key, of[i]!]).filter(([, value]) => !Number.isNaN(value))),
  }));
}

/** As a text for the page, without `<`. NaN becomes null. */
export function encode({ version, runs }: Report): string {
  const plain = runs.map((run) => {
    const tasks = run.result?.metrics?.tasks;
    return tasks
      ? { ...run, result: { ...run.result, metrics: { ...run.result!.metrics, tasks: tasksOf(tasks) } } }
      : run;
  });
  return JSON.stringify({ podere_report: kDocumentVersion, version, runs: plain }).replaceAll("<", "\\u003c");
}
