/** How a command scales: the studies of podere scale in a document. */
import { checked, flag, list, number, record, text } from "./decode";

export interface Study {
  /** Of its file. */
  name?: string;
  command: string;
  cpu?: string;
  /** Rows for each core: weak scaling. Otherwise all points have the same rows. */
  weak_rows?: number;
  same_results?: boolean;
  points: StudyPoint[];
  model?: Statement;
  suggestion?: { reasons: string[] };
  papers?: Statement;
}

/** Executors and cores, and what the command took on them, or what a model says that it takes. */
export interface StudyPoint {
  executors: number;
  cores: number;
  modeled?: boolean;
  n_runs?: number;
  seconds: number;
  least_seconds?: number;
  most_seconds?: number;
  speed_up?: number;
  efficiency?: number;
  wait_share?: number;
  phases: { phase: string; seconds: number }[];
  peak_memory_bytes?: number;
}

/** What Podere says of it. */
export interface Statement {
  text: string;
}

const statement = record<Statement>({ text }, ["text"]);

const point = checked(
  record<StudyPoint>(
    {
      executors: number,
      cores: number,
      modeled: flag,
      n_runs: number,
      seconds: number,
      least_seconds: number,
      most_seconds: number,
      speed_up: number,
      efficiency: number,
      wait_share: number,
      phases: list(record<StudyPoint["phases"][number]>({ phase: text, seconds: number }, ["phase", "seconds"])),
      peak_memory_bytes: number,
    },
    ["executors", "cores", "seconds"],
  ),
  ({ executors, cores, seconds }) => executors >= 1 && cores >= 1 && seconds > 0,
);

export const study = record<Study>(
  {
    name: text,
    command: text,
    cpu: text,
    weak_rows: number,
    same_results: flag,
    points: list(point),
    model: statement,
    suggestion: record<{ reasons: string[] }>({ reasons: list(text) }, ["reasons"]),
    papers: statement,
  },
  ["command", "points"],
);

export const totalCores = ({ executors, cores }: StudyPoint) => executors * cores;
export const isWeak = ({ weak_rows }: Study) => weak_rows !== undefined;
