/** What a session says of itself, about once a second: docs/page.md. Any part may be absent. */
import { flag, list, number, oneOf, record, text, type Decode } from "../decode";

/** The newest form of answers that this page reads. */
export const kLiveVersion = 1;

export interface Session {
  version?: string;
  /** Of the driver: another one has another. */
  id: string;
  /** Absent for one command that runs without a session. */
  session?: string;
  host?: string;
  process?: number;
  executors?: Executors;
  tables: KeptTable[];
  /** What executors are waited for, in a sentence. */
  waits_for?: string;
  jobs: Job[];
  /** The driver ends now. */
  ended?: boolean;
}

export interface Executors {
  wanted?: number;
  least?: number;
  ready?: number;
  /** Of each. */
  cores?: number;
  each: Executor[];
}

export interface Executor {
  executor: number;
  host?: string;
  process?: number;
  memory_bytes?: number;
  /** What it does; absent or empty: nothing. */
  phase?: string;
  silent_seconds?: number;
}

export interface KeptTable {
  name: string;
  rows?: number;
  columns?: number;
}

export type JobState = "waiting" | "running" | "done" | "failed" | "cancelled";

export interface Job {
  job: number;
  kind?: string;
  name?: string;
  state: JobState;
  seconds?: number;
  seconds_left?: number;
  progress?: JobProgress;
  /** Why it failed. */
  message?: string;
  /** Grows with each change of the job's run. */
  revision: number;
}

export interface JobProgress {
  phase?: string;
  done?: number;
  total?: number;
  unit?: string;
}

/** Numbers become parts of addresses. */
const whole: Decode<number> = (value, path, damage) => {
  const decoded = number(value, path, damage);
  if (decoded === undefined || (Number.isInteger(decoded) && decoded >= 0)) return decoded;
  damage.push(path);
  return undefined;
};

const executor = record<Executor>(
  { executor: whole, host: text, process: number, memory_bytes: number, phase: text, silent_seconds: number },
  ["executor"],
);

const job = record<Job>(
  {
    job: whole,
    kind: text,
    name: text,
    state: oneOf("waiting", "running", "done", "failed", "cancelled"),
    seconds: number,
    seconds_left: number,
    progress: record<JobProgress>({ phase: text, done: number, total: number, unit: text }),
    message: text,
    revision: number,
  },
  ["job", "state", "revision"],
);

const session = record<Session>(
  {
    version: text,
    id: text,
    session: text,
    host: text,
    process: number,
    executors: record<Executors>({ wanted: number, least: number, ready: number, cores: number, each: list(executor) }),
    tables: list(record<KeptTable>({ name: text, rows: number, columns: number }, ["name"])),
    waits_for: text,
    jobs: list(job),
    ended: flag,
  },
  ["id"],
);

/** "newer": of a Podere whose answers this page does not read; `undefined`: it is no answer of Podere. */
export function readSession(json: string): Session | "newer" | undefined {
  let answer: { podere_live?: unknown } | null;
  try {
    answer = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (typeof answer?.podere_live !== "number") return undefined;
  return answer.podere_live > kLiveVersion ? "newer" : session(answer, "session", []);
}

/** "3, train gbt m.json" */
export const titleOf = ({ name, kind }: Job) => name || kind || "a job";

export const runningJob = ({ jobs }: Session) => jobs.find(({ state }) => state === "running");

/** Of what is to be done; `undefined` where that is not known. */
export function shareOf({ state, progress }: Job): number | undefined {
  if (state === "done") return 1;
  const { done, total } = progress ?? {};
  return done !== undefined && total !== undefined && total > 0 ? Math.min(1, Math.max(0, done / total)) : undefined;
}
