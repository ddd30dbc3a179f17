/** Follows the process that serves a live page: what it answered last, and whether it still answers. */
import type { Connection } from "./connection";
import { Poll, type Answer } from "./poll";

/** What each answer has. */
export interface Answered {
  /** Of the process: another one has another. */
  id: string;
  /** The process ends now. */
  ended?: boolean;
}

export interface LinkOptions<T> {
  /** "newer": of a Podere whose answers this page does not read; `undefined`: it is no answer of Podere. */
  read(json: string): T | "newer" | undefined;
  /** What a process is called. */
  nameOf(answer: T): string | undefined;
  /** It has answered, the same as before or not. */
  took?(answer: T): void;
  /** The answer, or whether one comes, is another than before. */
  changed(): void;
}

export class Link<T extends Answered> {
  last: T | undefined;
  connection: Connection = { kind: "starting" };
  /** When the process answered last. */
  answered: Date | undefined;
  private text = "";
  private poll: Poll;

  constructor(
    address: string,
    private options: LinkOptions<T>,
  ) {
    this.poll = new Poll(address, (answer) => this.receive(answer));
  }

  /** Asks at once, and then again and again. */
  askNow(): void {
    this.poll.now();
  }

  /** What is the same as the last time costs nothing. */
  private receive(answer: Answer): boolean {
    if ("failure" in answer) {
      this.fail(answer.failure === "refused" ? { kind: "refused" } : this.silence(false));
      return false;
    }
    const isSame = answer.text === this.text && this.connection.kind !== "silent" && this.connection.kind !== "refused";
    if (isSame && this.last) {
      this.answered = new Date();
      if (this.connection.kind === "following") this.options.took?.(this.last);
      return this.connection.kind === "following";
    }
    const read = this.options.read(answer.text);
    if (!read) this.fail(this.silence(true));
    else if (read === "newer") this.fail({ kind: "newer" });
    else if (this.last && read.id !== this.last.id) this.fail({ kind: "replaced", name: this.options.nameOf(read) });
    else return this.take(read, answer.text);
    return false;
  }

  private take(read: T, text: string): boolean {
    const wasEnded = this.connection.kind === "ended";
    this.text = text;
    this.last = read;
    this.answered = new Date();
    if (!read.ended) this.connection = { kind: "following" };
    else if (!wasEnded) this.connection = { kind: "ended", at: this.answered };
    this.options.took?.(read);
    this.options.changed();
    return true;
  }

  /** After its end, silence is no news. */
  private fail(connection: Connection): void {
    if (connection.kind === "silent" && this.connection.kind === "ended") return;
    const isSame = JSON.stringify(connection) === JSON.stringify(this.connection);
    this.connection = connection;
    if (!isSame) this.options.changed();
  }

  private silence(isOther: boolean): Connection {
    const since = this.connection.kind === "silent" ? this.connection.since : (this.answered ?? new Date());
    return { kind: "silent", since, isOther };
  }
}
