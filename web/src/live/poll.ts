/** Asks an address again and again: each second, more rarely where no answer comes, and not while the page is hidden. */

export type Answer = { text: string } | { failure: "refused" | "silent" };

const kPause = 1000;
const kLongestPause = 10_000;
/** An answer that takes longer is none. */
const kPatience = 9000;
/** Before that the reader learns that there is none yet. */
const kUneasy = 3000;

/** `body` is of an answer that is no good one. */
export async function ask(address: string, patience = kPatience): Promise<Answer & { status?: number; body?: string }> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), patience);
  try {
    // The browser asks whether what it has is still true, and gives that again if so.
    const response = await fetch(address, { cache: "no-cache", signal: stop.signal });
    const { status } = response;
    if (status === 403) return { failure: "refused", status };
    if (!response.ok) return { failure: "silent", status, body: await response.text() };
    return { text: await response.text(), status };
  } catch {
    return { failure: "silent" };
  } finally {
    clearTimeout(timer);
  }
}

export class Poll {
  private timer = 0;
  private failures = 0;
  private isAsking = false;

  /** `received` reports whether the answer was a good one. */
  constructor(
    private address: string,
    private received: (answer: Answer) => boolean,
  ) {
    document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(this.timer) : this.now()));
  }

  /** Asks at once. */
  now(): void {
    clearTimeout(this.timer);
    if (!this.isAsking) void this.next();
  }

  private async next(): Promise<void> {
    this.isAsking = true;
    const uneasy = setTimeout(() => this.received({ failure: "silent" }), kUneasy);
    const answer = await ask(this.address);
    clearTimeout(uneasy);
    this.isAsking = false;
    this.failures += 1;
    try {
      if (this.received(answer)) this.failures = 0;
    } finally {
      const pause = this.failures ? Math.min(kLongestPause, kPause * 2 ** (this.failures - 1)) : kPause;
      if (!document.hidden) this.timer = setTimeout(() => void this.next(), pause);
    }
  }
}
