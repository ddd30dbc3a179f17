/** Whether the process that serves a live page still answers, in words for the page, for its tab and for screen readers. */
import { clock, wholeSeconds } from "../format";

export type Connection =
  | { kind: "starting" }
  | { kind: "following" }
  /** No answer since a time, or one that is not Podere's. */
  | { kind: "silent"; since: Date; isOther: boolean }
  /** The link is not, or no longer, good for this process. */
  | { kind: "refused" }
  | { kind: "ended"; at: Date }
  /** Another process answers. */
  | { kind: "replaced"; name: string | undefined }
  /** A process answers whose answers this page does not read. */
  | { kind: "newer" };

export interface Served {
  connection: Connection;
  /** When it answered last. */
  answered: Date | undefined;
  /** What serves the page. */
  what: "session" | "command";
  /** Where a valid link is, after "not valid, or no longer". */
  link: string;
  /** What it reports itself: why it does not have the newest state. */
  problem?: string | undefined;
}

export const kLinkOfCommand = ". The command printed it when it started.";

const kKeeps = "The page keeps what it has.";
/** So short a pause is not counted. */
const kShort = 2000;
/** Then it is no pause any more. */
const kLong = 60_000;

/** For the banner above all views. */
export function bannerText({ connection, answered, what, link, problem }: Served): string {
  const keeps = answered ? ` ${kKeeps}` : "";
  switch (connection.kind) {
    case "silent": {
      const for_ms = Date.now() - connection.since.getTime();
      if (connection.isOther) return `What answers at this address is not Podere; trying again.${keeps}`;
      if (for_ms < kShort) return `No answer; trying again.${keeps}`;
      if (for_ms < kLong || !answered) return `No answer for ${wholeSeconds(for_ms / 1000)}; trying again.${keeps}`;
      return `No answer since ${clock(connection.since)}: the ${what} seems to have ended.${keeps}`;
    }
    case "ended":
      return `The ${what} has ended at ${clock(connection.at)}. ${kKeeps}`;
    case "refused":
      return `The link of this page is not valid, or no longer${link}${keeps}`;
    case "replaced":
      return `Another ${what} answers now${connection.name ? `: ${connection.name}` : ""}.${keeps}`;
    case "newer":
      return `A newer Podere answers now, which this page cannot read.${keeps}`;
    default:
      return problem ?? "";
  }
}

/** A sentence without what changes each second. */
export function newsText({ connection, what }: Pick<Served, "connection" | "what">, name: string | undefined): string {
  switch (connection.kind) {
    case "silent":
      return connection.isOther ? "What answers is not Podere; trying again." : "No answer; trying again.";
    case "ended":
      return `The ${what} has ended. ${kKeeps}`;
    case "refused":
      return "The link of this page is not valid, or no longer.";
    case "replaced":
      return `Another ${what} answers now${connection.name ? `: ${connection.name}` : ""}.`;
    case "newer":
      return `The ${what} is of a newer Podere than this page.`;
    default:
      return `The ${what} ${name ? `${name} ` : ""}answers.`;
  }
}

/** What the tab's title begins with while something is wrong. */
export function tabText({ connection, what }: Pick<Served, "connection" | "what">): string | undefined {
  switch (connection.kind) {
    case "silent":
      return "No answer";
    case "ended":
      return "Ended";
    case "refused":
      return "Link needed";
    case "replaced":
    case "newer":
      return `Another ${what}`;
    default:
      return undefined;
  }
}
