/** What a live page has around its views: how the session is, "Save as report", older runs, and news for screen readers. */
import { fileName, html, write } from "../dom";
import { plural } from "../format";
import type { Report } from "../report";
import { Banner } from "./banner";
import { kLinkOfCommand, tabText, type Served } from "./connection";
import type { Follower, Live } from "./live";
import { News, NewsLog } from "./news";
import { Saver } from "./save";
import { runningJob, shareOf, titleOf } from "./session";

/** Of the tab: how far the running job is, while the tab is shown: behind others it would soon be old. */
export function tabTitle({ session, connection }: Live, isHidden: boolean): string {
  const name = session?.session ?? "";
  const of = (text: string) => `${text}${name ? `: ${name}` : ""} – Podere`;
  const trouble = tabText({ connection, what: "session" });
  if (trouble) return of(trouble);
  const job = session && runningJob(session);
  if (!job) return name ? `${name} – Podere` : "Podere";
  const share = shareOf(job);
  return `${share === undefined || isHidden ? "" : `${Math.floor(100 * share)} % `}${titleOf(job).slice(0, 100)} – Podere`;
}

/** One command that runs without a session has no name. */
function servedOf({ session, connection, answered }: Live): Served {
  const name = session?.session;
  const link =
    name || !session
      ? `: open it anew. \`podere session status ${name ?? "NAME"}\` prints it.`
      : kLinkOfCommand;
  return { connection, answered, what: name ? "session" : "command", link };
}

export class LiveHead {
  private news = new NewsLog();
  private banner: Banner;
  private saved = html("span", { class: "soft", role: "status" });
  private saveButton: HTMLButtonElement;
  readonly older: HTMLButtonElement;
  private teller = new News((text) => this.news.announce(text));
  private saver = new Saver();
  private live: Live | undefined;
  private isPrepared = false;
  private report: Report = { runs: [] };

  constructor(follower: Follower) {
    this.banner = new Banner(() => follower.askNow());
    this.saveButton = html(
      "button",
      { type: "button", class: "small", hidden: true, onclick: () => void this.save() },
      "Save as report",
    );
    this.older = html("button", { type: "button", class: "small", hidden: true, onclick: () => follower.loadOlder() });
    document.addEventListener("visibilitychange", () => this.title());
  }

  /** For the head of the page. */
  get actions(): HTMLElement[] {
    return [this.saved, this.saveButton];
  }

  /** Stand before the views. */
  get elements(): HTMLElement[] {
    return [this.banner.element, this.news.element];
  }

  get name(): string {
    const { session } = this.live ?? {};
    return [session?.session ?? "live", session?.version].filter(Boolean).join(" · ");
  }

  follow(live: Live): void {
    this.live = live;
    this.banner.follow(servedOf(live));
    this.teller.follow(live);
    this.title();
    this.older.hidden = live.older === 0;
    write(this.older, `Load older runs (${live.older})`);
    if (!live.session || this.isPrepared) return;
    this.isPrepared = true;
    void this.saver.prepare();
  }

  show(report: Report): void {
    this.report = report;
    this.saveButton.hidden = !report.runs.length;
  }

  private title(): void {
    const title = this.live ? tabTitle(this.live, document.hidden) : "Podere";
    if (document.title !== title) document.title = title;
  }

  private async save(): Promise<void> {
    const name = `${this.live?.session?.session ?? "podere"} ${new Date().toISOString().slice(0, 16)}`;
    const isSaved = await this.saver.save(this.report, fileName(name, "html"));
    write(this.saved, isSaved ? `Saved ${plural(this.report.runs.length, "run")}` : "Not saved: no answer");
  }
}
