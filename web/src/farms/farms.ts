/** What `podere farm status --page` answers about once a second: the farms of a cluster. Any part may be absent. */
import { checked, flag, list, number, numbers, record, text } from "../decode";

/** The newest form of answers that this page reads. */
export const kFarmsVersion = 1;

export interface Farms {
  version?: string;
  /** Of the command: another one has another. */
  id: string;
  /** The address of the cluster's API server. */
  server?: string;
  /** Absent: farms of all namespaces. */
  namespace?: string;
  /** Why what is shown may be old, in a sentence. */
  problem?: string;
  farms: Farm[];
  /** The command ends now. */
}

export interface Farm {
  namespace: string;
  name: string;
  guaranteed?: number;
  wanted?: number;
  maximum?: number;
  priority?: number;
  weight?: number;
  gang?: boolean;
  /** The operator makes its executors, not another program. */
  makes_pods?: boolean;
  /** Absent until the operator has written one. */
  status?: Status;
  /** Not read before it is shown: see `historyOf`. */
  history?: unknown;
}

export interface Status {
  executors?: number;
  /** On a node and to stay, borrowed ones included. */
  running?: number;
  ready?: number;
  pending?: number;
  /** On a node and asked to end. */
  terminating?: number;
  /** Running in borrowed room. */
  over_guarantee?: number;
  message?: string;
  as_of?: string;
  conditions: Condition[];
}

export interface Condition {
  type: string;
  holds: boolean;
  reason?: string;
  message?: string;
  since?: string;
}

/** How many executors there were from a time on. */
export interface Moment {
  /** Seconds since 1970. */
  at: number;
  running: number;
  pending: number;
  ending: number;
}

const condition = record<Condition>({ type: text, holds: flag, reason: text, message: text, since: text }, [
  "type",
  "holds",
]);

const farm = record<Farm>(
  {
    namespace: text,
    name: text,
    guaranteed: number,
    wanted: number,
    maximum: number,
    priority: number,
    weight: number,
    gang: flag,
    makes_pods: flag,
    status: record<Status>({
      executors: number,
      running: number,
      ready: number,
      pending: number,
      terminating: number,
      over_guarantee: number,
      message: text,
      as_of: text,
      conditions: list(condition),
    }),
    history: (value) => value ?? undefined,
  },
  ["namespace", "name"],
);

const farms = record<Farms>(
  { version: text, id: text, server: text, namespace: text, problem: text, farms: list(farm) },
  ["id"],
);

/** "newer": of a Podere whose answers this page does not read; `undefined`: it is no answer of Podere. */
export function readFarms(json: string): Farms | "newer" | undefined {
  let answer: { podere_farms?: unknown } | null;
  try {
    answer = JSON.parse(json);
  } catch {
    return undefined;
  }
  if (typeof answer?.podere_farms !== "number") return undefined;
  return answer.podere_farms > kFarmsVersion ? "newer" : farms(answer, "farms", []);
}

const moments = list(checked(numbers, (row) => row.length >= 4 && row.every(Number.isFinite)));

export const historyOf = ({ history }: Farm): Moment[] =>
  (moments(history, "history", []) ?? []).map(([at, running, pending, ending]) => ({
    at: at!,
    running: running!,
    pending: pending!,
    ending: ending!,
  }));

/** hep/cms */
export const keyOf = ({ namespace, name }: Pick<Farm, "namespace" | "name">) => `${namespace}/${name}`;

/** The key as a part of an address. */
export const pathOf = (farm: Farm) => [farm.namespace, farm.name].map(encodeURIComponent).join("/");

/** It waits for executors that it is guaranteed. */
export const isBelowGuarantee = ({ status }: Farm) =>
  Boolean(status?.conditions.some(({ type, holds }) => type === "GuaranteeMet" && !holds));

/** Executors of one farm or of several, by how they stand. */
export interface Counts {
  guaranteed: number;
  running: number;
  borrowed: number;
  pending: number;
  ending: number;
}

export const countsOf = ({ guaranteed = 0, status }: Farm): Counts => ({
  guaranteed,
  running: status?.running ?? 0,
  borrowed: status?.over_guarantee ?? 0,
  pending: status?.pending ?? 0,
  ending: status?.terminating ?? 0,
});

export function totalOf(farms: Farm[]): Counts {
  const total: Counts = { guaranteed: 0, running: 0, borrowed: 0, pending: 0, ending: 0 };
  for (const farm of farms) {
    const counts = countsOf(farm);
    for (const key of Object.keys(total) as (keyof Counts)[]) total[key] += counts[key];
  }
  return total;
}
