/** A search for options: the trials of podere tune in its result. */
import { checked, dictionary, list, number, numbers, oneOf, record, text, type Decode } from "./decode";

export interface Search {
  /** The measure by which trials are compared. */
  score?: string;
  /** The trial whose setting the model has. */
  chosen?: number;
  /** Where the model blends several trials: its score, and the weight of each. */
  ensemble?: { score?: number; trials: { trial: number; weight: number }[] };
  trials: Trial[];
}

export type OptionValue = number | string | boolean;

export interface Trial {
  trial: number;
  state: "complete" | "paused" | "failed" | "running";
  /** After the step after which it was best. Absent: it failed. */
  score?: number;
  /** Rounds or epochs up to there. */
  budget?: number;
  setting: Record<string, OptionValue>;
  /** Of each step [rounds or epochs, the score after them]; NaN where it failed. May be empty. */
  curve: number[][];
  facts?: { error?: string; trees?: number; epochs?: number; standard_error?: number };
}

/** Lists, such as sizes of layers, become texts. */
const optionValue: Decode<OptionValue> = (value, path, damage) => {
  const isOne = (each: unknown): each is OptionValue => ["number", "string", "boolean"].includes(typeof each);
  if (value === null || value === undefined || isOne(value)) return value ?? undefined;
  if (Array.isArray(value) && value.every(isOne)) return value.join(",");
  damage.push(path);
  return undefined;
};

const trial = record<Trial>(
  {
    trial: number,
    state: oneOf("complete", "paused", "failed", "running"),
    score: number,
    budget: number,
    setting: dictionary(optionValue),
    curve: (value, path, damage) =>
      checked(list(numbers), (points) => points.every((point) => point.length === 2 && point[0]! > 0))(
        value,
        path,
        damage,
      ) ?? [],
    facts: record<NonNullable<Trial["facts"]>>({ error: text, trees: number, epochs: number, standard_error: number }),
  },
  ["trial", "state"],
);

const ensemble = record<NonNullable<Search["ensemble"]>>(
  {
    score: number,
    trials: list(record<{ trial: number; weight: number }>({ trial: number, weight: number }, ["trial", "weight"])),
  },
  ["trials"],
);

export const search = record<Search>({ score: text, chosen: number, ensemble, trials: list(trial) }, ["trials"]);
