/** What a session does now: the job that runs, those that wait, its executors and tables, and how other jobs ended. */
import type { Live } from "../live/live";
import { titleOf, type Executor, type Job, type KeptTable, type Session } from "../live/session";
import { html, short, write } from "../dom";
import { bytes, count, fixed, plural, seconds, wholeSeconds } from "../format";
import { empty } from "../parts/controls";
import { Keyed } from "../parts/keyed";
import { LiveTable } from "../parts/live_table";
import { JobCard, type ShownJob } from "./job_card";
import { section, type View } from "./view";

/** An executor that works and gives no sign for so long is marked. */
const kSilentSeconds = 5;
/** Of the session's last warnings, so many. */
const kWarnings = 30;

const isSilent = ({ phase, silent_seconds = 0 }: Executor) => Boolean(phase) && silent_seconds >= kSilentSeconds;

const doing = (each: Executor) =>
  `${each.phase || "idle"}${isSilent(each) ? `, silent for ${wholeSeconds(each.silent_seconds!)}` : ""}`;

const sumOf = (values: (number | undefined)[]) =>
  values.some((value) => value !== undefined)
    ? values.reduce<number>((sum, value) => sum + (value ?? 0), 0)
    : undefined;

function executorsText({ executors }: Session): string {
  const { ready, wanted, least, cores, each = [] } = executors ?? {};
  const n = ready ?? each.length;
  const memory = sumOf(each.map(({ memory_bytes }) => memory_bytes));
  return [
    wanted !== undefined && wanted !== n ? `${fixed(n, 0)} of ${plural(wanted, "executor")}` : plural(n, "executor"),
    cores === undefined ? "" : `${plural(cores, "core")} each, ${fixed(n * cores, 0)} in all`,
    memory === undefined ? "" : `${bytes(memory)} of memory in all`,
    each.some(isSilent) ? `${fixed(each.filter(isSilent).length, 0)} silent` : "",
    least !== undefined && wanted !== undefined && least < wanted ? `at least ${fixed(least, 0)} needed` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

const whereText = ({ session, host, process }: Session) =>
  [
    session === undefined ? "One command, without a session" : "",
    host ? `driver on ${short(host, 80)}` : "",
    process === undefined ? "" : `process ${process}`,
  ]
    .filter(Boolean)
    .join(" · ");

/** The job to look at: the one that runs, or else the last that did. */
const shownJobs = (session: Session): Job[] => {
  const running = session.jobs.filter(({ state }) => state === "running");
  if (running.length) return running;
  const begun = session.jobs.filter(({ state }) => state !== "waiting");
  return begun.length ? [begun.reduce((a, b) => (b.job > a.job ? b : a))] : [];
};

interface Warning {
  key: string;
  job: number;
  seconds: number;
  message: string;
}

function warningsOf({ jobs }: Session, runOf: Live["runOf"]): Warning[] {
  return [...jobs]
    .sort((a, b) => b.job - a.job)
    .flatMap(({ job }) =>
      (runOf(job)?.events ?? []).map((event, i) => ({ key: `${job} ${i}`, job, ...event })).reverse(),
    )
    .slice(0, kWarnings);
}

/** A part of the view that is there only while it has something to show. */
function optional(title: string, content: HTMLElement, otherwise?: HTMLElement) {
  const element = section(title, content, ...(otherwise ? [otherwise] : []));
  return {
    element,
    show(isThere: boolean) {
      content.hidden = !isThere;
      if (otherwise) otherwise.hidden = isThere;
      else element.hidden = !isThere;
    },
  };
}

export function session(): View {
  const waits = html("p", { class: "empty" });
  const none = html("div");
  const cards = new Keyed<ShownJob>(
    html("div", { class: "jobs" }),
    ({ job }) => String(job.job),
    () => new JobCard(),
  );
  const executors = new LiveTable<Executor>(
    "Executors",
    [
      { title: "executor", isHead: true, text: ({ executor }) => String(executor) },
      { title: "does", text: doing, look: (each) => (isSilent(each) ? "alarm" : each.phase ? "" : "soft") },
      { title: "memory", isNumber: true, text: ({ memory_bytes }) => bytes(memory_bytes) },
      { title: "host", text: ({ host }) => host ?? "–" },
      { title: "process", isNumber: true, text: ({ process }) => (process === undefined ? "–" : String(process)) },
    ],
    ({ executor }) => String(executor),
  );
  const executorsNote = html("p", { class: "soft" });
  const where = html("p", { class: "soft" });
  const waiting = new LiveTable<Job>(
    "Waiting jobs",
    [
      { title: "job", isHead: true, isNumber: true, text: ({ job }) => String(job) },
      { title: "what", text: titleOf },
      { title: "has waited", isNumber: true, text: (job) => seconds(job.seconds) },
    ],
    ({ job }) => String(job),
  );
  const ended = new LiveTable<Job>(
    "Ended jobs",
    [
      { title: "job", isHead: true, isNumber: true, text: ({ job }) => String(job) },
      { title: "what", text: titleOf },
      { title: "state", text: ({ state }) => state, look: ({ state }) => (state === "failed" ? "alarm" : "") },
      { title: "took", isNumber: true, text: (job) => seconds(job.seconds) },
      { title: "cause", isProse: true, text: ({ message }) => message ?? "" },
    ],
    ({ job }) => String(job),
  );
  const tables = new LiveTable<KeptTable>(
    "Kept tables",
    [
      { title: "table", isHead: true, text: ({ name }) => name },
      { title: "rows", isNumber: true, text: ({ rows }) => count(rows) },
      { title: "columns", isNumber: true, text: ({ columns }) => count(columns) },
    ],
    ({ name }) => name,
  );
  const warnings = new Keyed<Warning>(
    html("ol", { class: "events" }),
    ({ key }) => key,
    ({ job, seconds: at, message }) => ({
      element: html(
        "li",
        {},
        html("span", { class: "soft number" }, `job ${job}, ${seconds(at)}`),
        html("bdi", {}, short(message, 2000)),
      ),
      show() {},
    }),
  );
  const noTables = html("div");
  const places = {
    warnings: optional("Losses and warnings", warnings.element),
    waiting: optional("Waiting", waiting.element),
    executors: section("Executors", executorsNote, executors.element, where),
    tables: optional("Kept tables", tables.element, noTables),
    ended: optional("Ended", ended.element),
  };
  const all = html(
    "div",
    { hidden: true },
    waits,
    none,
    cards.element,
    places.warnings.element,
    html("div", { class: "beside" }, places.executors, html("div", {}, places.waiting.element, places.tables.element)),
    places.ended.element,
  );
  const starting = empty("Waiting for the session's first answer.");

  /** What to do depends on the name of the session only. */
  let hinted: string | undefined;
  function hint(name: string | undefined) {
    if (hinted === (name ?? "")) return;
    hinted = name ?? "";
    const to = name === undefined ? "" : ` --session ${short(name, 60)}`;
    none.replaceChildren(
      empty(
        name === undefined
          ? "No job has begun yet."
          : `No jobs yet. Start one: \`podere train gbt DATA${to} --report out.html\``,
      ),
    );
    noTables.replaceChildren(
      empty(
        `None yet. Jobs start sooner on a table that the session keeps: \`podere session load ${short(name ?? "NAME", 60)} DATA --as TABLE\``,
      ),
    );
  }

  return {
    element: html("div", { class: "session" }, starting, all),
    show() {},
    follow({ session: now, connection, answered, runOf }) {
      starting.hidden = now !== undefined;
      all.hidden = now === undefined;
      if (!now) return;
      hint(now.session);
      waits.hidden = !now.waits_for || connection.kind === "ended";
      write(waits, now.waits_for ?? "");
      none.hidden = now.jobs.length > 0;
      const asOf = connection.kind === "following" ? undefined : answered;
      cards.show(shownJobs(now).map((job) => ({ job, run: runOf(job.job), asOf })));
      const warned = warningsOf(now, runOf);
      places.warnings.show(warned.length > 0);
      warnings.show(warned);
      const queue = now.jobs.filter(({ state }) => state === "waiting").sort((a, b) => a.job - b.job);
      places.waiting.show(queue.length > 0);
      waiting.show(queue);
      write(executorsNote, executorsText(now));
      executors.element.hidden = !now.executors?.each.length;
      executors.show(
        [...(now.executors?.each ?? [])].sort(
          (a, b) => Number(isSilent(b)) - Number(isSilent(a)) || a.executor - b.executor,
        ),
      );
      write(where, whereText(now));
      places.tables.element.hidden = now.session === undefined && !now.tables.length;
      places.tables.show(now.tables.length > 0);
      tables.show(now.tables);
      const others = now.jobs
        .filter(({ state }) => state !== "waiting" && state !== "running")
        .sort((a, b) => b.job - a.job);
      places.ended.show(others.length > 0);
      ended.show(others);
    },
  };
}
