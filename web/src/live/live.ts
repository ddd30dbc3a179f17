/** What a page knows that follows a session: what the session said last, its runs, and whether it still answers. */
import type { Reading } from "../read";
import type { Run } from "../report";
import { Poll, type Answer } from "./poll";
import { Runs } from "./runs";
import { readSession, type Session } from "./session";

export type Connection =
  | { kind: "starting" }
  | { kind: "following" }
  /** No answer since a time, or one that is not Podere's. */
  | { kind: "silent"; since: Date; isOther: boolean }
  /** The link is not, or no longer, good for this session. */
  | { kind: "refused" }
  | { kind: "ended"; at: Date }
  /** Another driver answers. */
  | { kind: "replaced"; session: string | undefined }
  /** A driver answers whose answers this page does not read. */
  | { kind: "newer" };

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
  private session: Session | undefined;
  private connection: Connection = { kind: "starting" };
  private answered: Date | undefined;
  private text = "";
  private listener: Listener | undefined;
  private poll = new Poll("api/session", (answer) => this.receive(answer));
  private runs = new Runs(() => this.showRuns());

  follow(listener: Listener): void {
    this.listener = listener;
    listener.follow(this.live());
    this.showRuns();
    this.poll.now();
  }

  askNow(): void {
    this.poll.now();
  }

  loadOlder(): void {
    this.runs.more();
    this.listener?.follow(this.live());
  }

  private live(): Live {
    return {
      session: this.session,
      connection: this.connection,
      answered: this.answered,
      runOf: (job) => this.runs.of(job),
      older: this.runs.older,
    };
  }

  /** What is the same as the last time costs nothing. */
  private receive(answer: Answer): boolean {
    if ("failure" in answer) {
      this.fail(answer.failure === "refused" ? { kind: "refused" } : this.silence(false));
      return false;
    }
    const isSame = answer.text === this.text && this.connection.kind !== "silent" && this.connection.kind !== "refused";
    if (isSame && this.session) {
      this.answered = new Date();
      if (this.connection.kind === "following") this.runs.update(this.session.jobs);
      return this.connection.kind === "following";
    }
    const session = readSession(answer.text);
    if (!session) this.fail(this.silence(true));
    else if (session === "newer") this.fail({ kind: "newer" });
    else if (this.session && session.id !== this.session.id) this.fail({ kind: "replaced", session: session.session });
    else return this.take(session, answer.text);
    return false;
  }

  private take(session: Session, text: string): boolean {
    const wasEnded = this.connection.kind === "ended";
    this.text = text;
    this.session = session;
    this.answered = new Date();
    if (!session.ended) this.connection = { kind: "following" };
    else if (!wasEnded) this.connection = { kind: "ended", at: this.answered };
    this.runs.update(session.jobs);
    this.listener?.follow(this.live());
    return true;
  }

  /** After its end, silence is no news. */
  private fail(connection: Connection): void {
    if (connection.kind === "silent" && this.connection.kind === "ended") return;
    const isSame = JSON.stringify(connection) === JSON.stringify(this.connection);
    this.connection = connection;
    if (!isSame) this.listener?.follow(this.live());
  }

  private silence(isOther: boolean): Connection {
    const since = this.connection.kind === "silent" ? this.connection.since : (this.answered ?? new Date());
    return { kind: "silent", since, isOther };
  }

  private showRuns(): void {
    const all = this.runs.all;
    const isNamed = this.session?.session !== undefined;
    this.listener?.show({
      report: {
        ...(this.session?.version ? { version: this.session.version } : {}),
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
