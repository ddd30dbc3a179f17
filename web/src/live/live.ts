/** What a page knows that follows a session: what the session said last, its runs, and whether it still answers. */
import type { Reading } from "../read";
import type { Run } from "../report";
import type { Connection } from "./connection";
import { Link } from "./link";
import { Runs } from "./runs";
import { readSession, type Session } from "./session";

export interface Live {
  session: Session | undefined;
  connection: Connection;
  /** When the session answered last. */
  answered: Date | undefined;
  runOf(job: number): Run | undefined;
  /** How many jobs there are besides whose runs can be asked for. */
  older: number;
}

export interface Listener {
  /** The session, or whether it answers, is another than before. */
  follow(live: Live): void;
  /** Its runs are. */
  show(reading: Reading): void;
}

export class Follower {
  private listener: Listener | undefined;
  private link = new Link<Session>("api/session", {
    read: readSession,
    nameOf: ({ session }) => session,
    took: ({ jobs }) => this.runs.update(jobs),
    changed: () => this.listener?.follow(this.live()),
  });
  private runs = new Runs(() => this.showRuns());

  follow(listener: Listener): void {
    this.listener = listener;
    listener.follow(this.live());
    this.showRuns();
    this.link.askNow();
  }

  askNow(): void {
    this.link.askNow();
  }

  loadOlder(): void {
    this.runs.more();
    this.listener?.follow(this.live());
  }

  private live(): Live {
    const { last: session, connection, answered } = this.link;
    return { session, connection, answered, runOf: (job) => this.runs.of(job), older: this.runs.older };
  }

  private showRuns(): void {
    const all = this.runs.all;
    const session = this.link.last;
    const isNamed = session?.session !== undefined;
    this.listener?.show({
      report: {
        ...(session?.version ? { version: session.version } : {}),
        runs: all.map(({ job, run }) => named(run, job, isNamed)),
        jobs: all.map(({ job }) => job),
      },
      damage: this.runs.damage,
    });
    this.listener?.follow(this.live());
  }
}

const kNamed = new WeakMap<Run, Run>();

/** Names are keys. Jobs of a session may have the same ones, so their numbers come first. */
function named(run: Run, job: number, isNamed: boolean): Run {
  if (!isNamed && job < 2) return run;
  const found = kNamed.get(run) ?? { ...run, name: `${job}: ${run.name}` };
  kNamed.set(run, found);
  return found;
}
