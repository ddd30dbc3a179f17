/** The runs of a session's jobs: asked for one after the other, and only where they have changed. */
import type { Damage } from "../decode";
import { readRun } from "../read";
import type { Run } from "../report";
import { ask } from "./poll";
import type { Job } from "./session";

/** Of how many jobs there are runs at first, and so many more with each demand. */
const kAtOnce = 50;
/** A long run is large: reading it may take this share of the time, so that the page stays quick. */
const kShareOfTime = 0.2;
const kPatience = 60_000;
const kLongestPause = 10_000;
/** Views are shown what has come so far once in this time while more comes. */
const kBatch = 500;

interface Held {
  revision: number;
  /** Absent where the session has none, or a damaged one. */
  run?: Run;
  damage: Damage;
}

/** A job whose run is not asked for before a time. */
interface Delay {
  until: number;
  failures: number;
  state: string;
}

export class Runs {
  private held = new Map<number, Held>();
  private delays = new Map<number, Delay>();
  private jobs: Job[] = [];
  private limit = kAtOnce;
  private isBusy = false;
  private shownAt = 0;
  private hasNews = false;

  constructor(private changed: () => void) {}

  /** In the order of jobs. */
  private get inOrder() {
    return [...this.held].sort(([a], [b]) => a - b);
  }

  get all(): { job: number; run: Run }[] {
    return this.inOrder.flatMap(([job, { run }]) => (run ? [{ job, run }] : []));
  }

  get damage(): Damage {
    return this.inOrder.flatMap(([, { damage }]) => damage);
  }

  of(job: number): Run | undefined {
    return this.held.get(job)?.run;
  }

  /** How many jobs have begun whose runs are not asked for. */
  get older(): number {
    const isMissing = ({ job }: Job) => !this.held.has(job);
    return this.begun().filter(isMissing).length - this.wanted().filter(isMissing).length;
  }

  more(): void {
    this.limit += kAtOnce;
    void this.work();
  }

  update(jobs: Job[]): void {
    this.jobs = jobs;
    const listed = new Set(jobs.map(({ job }) => job));
    for (const job of this.delays.keys()) if (!listed.has(job)) this.delays.delete(job);
    void this.work();
  }

  private begun(): Job[] {
    return this.jobs.filter(({ state }) => state !== "waiting").sort((a, b) => b.job - a.job);
  }

  /** Those whose runs are to be had, the newest first. */
  private wanted(): Job[] {
    return this.begun()
      .filter(({ job }, place) => place < this.limit || this.held.has(job))
      .filter(({ job, revision }) => this.held.get(job)?.revision !== revision);
  }

  private next(): Job | undefined {
    const now = performance.now();
    return this.wanted().find(({ job, state }) => {
      const delay = this.delays.get(job);
      return !delay || delay.until <= now || delay.state !== state;
    });
  }

  private async work(): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      for (let job = this.next(); job && !document.hidden; job = this.next()) {
        await this.load(job);
        if (this.hasNews && performance.now() - this.shownAt > kBatch) this.show();
      }
      if (this.hasNews) this.show();
    } finally {
      this.isBusy = false;
    }
  }

  private async load({ job, revision, state }: Job): Promise<void> {
    const began = performance.now();
    const answer = await ask(`api/runs/${job}`, kPatience);
    const read = performance.now();
    if ("text" in answer) this.held.set(job, { revision, ...readOne(answer.text, job) });
    // What the session does not keep any more, the page does.
    else if (answer.status === 404) this.held.set(job, { damage: [], ...this.held.get(job), revision });
    else {
      const failures = (this.delays.get(job)?.failures ?? 0) + 1;
      this.delays.set(job, { until: read + Math.min(kLongestPause, 1000 * 2 ** (failures - 1)), failures, state });
      return;
    }
    const took = performance.now() - began;
    this.delays.set(job, { until: read + took * (1 / kShareOfTime - 1), failures: 0, state });
    this.hasNews = true;
  }

  private show(): void {
    this.shownAt = performance.now();
    this.hasNews = false;
    this.changed();
  }
}

function readOne(json: string, job: number): { run?: Run; damage: Damage } {
  const damage: Damage = [];
  const path = `job ${job}`;
  try {
    const run = readRun(JSON.parse(json), path, damage);
    return { ...(run ? { run } : {}), damage };
  } catch {
    return { damage: [path] };
  }
}
