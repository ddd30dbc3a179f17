/** What has happened since the last answer, in sentences for those who do not see it. */
import { html, short } from "../dom";
import { seconds } from "../format";
import type { Event } from "../report";
import { newsText } from "./connection";
import type { Live } from "./live";
import { titleOf, type Job, type Session } from "./session";

const kLongest = 200;
const kKept = 20;

function ended(job: Job): string {
  const title = `Job ${job.job}, ${titleOf(job)}`;
  if (job.state === "failed") return `${title}, failed: ${job.message || "no cause is known"}.`;
  if (job.state === "cancelled") return `${title}, was cancelled.`;
  return `${title}, is done${job.seconds === undefined ? "" : ` after ${seconds(job.seconds)}`}.`;
}

/** Calls `announce` with each news once. What is there at first is none. */
export class News {
  private session: Session | undefined;
  private states = new Map<number, string>();
  private old = new Set<number>();
  private warned = new Map<number, number>();
  private kind = "starting";

  constructor(private announce: (text: string) => void) {}

  follow({ session, connection, runOf }: Live): void {
    if (connection.kind !== this.kind && this.kind !== "starting")
      this.announce(newsText({ connection, what: "session" }, session?.session));
    this.kind = connection.kind;
    if (!session) return;
    const isFirst = !this.session;
    this.session = session;
    for (const job of session.jobs) {
      const before = this.states.get(job.job);
      this.states.set(job.job, job.state);
      if (isFirst) {
        if (job.state !== "waiting") this.old.add(job.job);
      } else if (before !== job.state) {
        if (job.state === "running") this.announce(`Job ${job.job}, ${titleOf(job)}, begins.`);
        else if (job.state !== "waiting") this.announce(ended(job));
      }
      const run = runOf(job.job);
      if (run) this.followWarnings(job.job, run.events);
    }
  }

  /** Those that were there before the page was are old. */
  private followWarnings(job: number, events: Event[]): void {
    const known = this.warned.get(job) ?? (this.old.has(job) ? events.length : 0);
    for (const { message } of events.slice(known)) this.announce(`Job ${job}: ${short(message, kLongest)}`);
    this.warned.set(job, events.length);
  }
}

/** Screen readers read what is added. */
export class NewsLog {
  readonly element = html("div", { class: "hidden", role: "log", "aria-label": "News" });

  announce(text: string): void {
    this.element.append(html("p", {}, text));
    while (this.element.childElementCount > kKept) this.element.firstElementChild!.remove();
  }
}
