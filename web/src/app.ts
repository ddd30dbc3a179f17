/** The page: head, list of runs, and the view that the address names. */
import { readAddress, writeAddress } from "./address";
import { colored, keptModels, keptRuns, sameItems, shownOf, type Shown, type ShownRun } from "./derive/shown";
import type { Damage } from "./decode";
import { html, write } from "./dom";
import { plural } from "./format";
import { LiveHead } from "./live/head";
import type { Follower, Listener, Live } from "./live/live";
import { empty } from "./parts/controls";
import { pageHead } from "./parts/page_head";
import type { Reading } from "./read";
import type { Study } from "./study";
import { RunList } from "./runs";
import { cost } from "./views/cost";
import { data } from "./views/data";
import { modelView } from "./views/model";
import { overview } from "./views/overview";
import { quality } from "./views/quality";
import { scaling } from "./views/scaling";
import { session } from "./views/session";
import { training } from "./views/training";
import { isSearch, trials } from "./views/trials";
import type { View } from "./views/view";

const kViews: Record<string, [title: string, make: () => View]> = {
  overview: ["Overview", overview],
  training: ["Training", training],
  trials: ["Trials", trials],
  quality: ["Quality", quality],
  model: ["Model", modelView],
  data: ["Data", data],
  cost: ["Cost", cost],
};
/** Views that only a report has stand last. */
const kReportViews: typeof kViews = { scaling: ["Scaling", scaling] };
/** Views that only a live page has stand first. */
const kLiveViews: typeof kViews = { session: ["Session", session] };

export class App implements Listener {
  private kinds: typeof kViews;
  private head: LiveHead | undefined;
  private live: Live | undefined;
  private views = new Map<string, View>();
  private runs: ShownRun[] = [];
  private studies: Study[] = [];
  private hidden = new Set(readAddress(location.hash).hidden);
  private shown: Shown | undefined;
  /** What each view shows; another is shown once the view is. */
  private showing = new Map<string, Shown>();
  private title = html("h2", { tabindex: -1 });
  private place = html("div", { class: "view" });
  private message = html("div", { role: "status" });
  private version = html("span", { class: "soft" });
  private list: RunList;
  private links: HTMLAnchorElement[];

  /** With a `follower` the page is live. */
  constructor(page: HTMLElement, follower?: Follower) {
    this.kinds = follower ? { ...kLiveViews, ...kViews } : { ...kViews, ...kReportViews };
    this.head = follower && new LiveHead(follower);
    this.list = new RunList((number, isShown) => this.select(number, isShown), this.head?.older);
    this.links = Object.entries(this.kinds).map(([name, [title]]) =>
      html("a", { href: `#${name}`, "data-view": name }, title),
    );
    const main = html("main", { id: "content" }, this.message, this.title, this.place);
    page.replaceChildren(
      ...pageHead(this.title, this.version, ...(this.head?.actions ?? [])),
      html("nav", { "aria-label": "Views" }, ...this.links),
      ...(this.head?.elements ?? []),
      html("div", { class: "body" }, this.list.element, main),
    );
    addEventListener("hashchange", () => this.go());
  }

  /** Shows a document, the first or a newer one. */
  show(reading: Reading): void {
    if ("problem" in reading) return this.fail(reading.problem);
    const { version } = reading.report;
    this.head?.show(reading.report);
    if (!this.head) this.version.textContent = version ? `report · ${version}` : "report";
    this.report(reading.damage);
    this.runs = keptRuns(this.runs, colored(reading.report));
    this.studies = reading.report.studies ?? [];
    this.list.show(this.runs, this.hidden);
    this.arrange();
    this.go();
  }

  /** Once for the same damage: screen readers read it again whenever it is written. */
  private report(damage: Damage): void {
    const n = damage.length;
    const text = n
      ? `${plural(n, "part")} of this ${this.head ? "session" : "report"} ${n > 1 ? "are" : "is"} damaged and left out: ${damage.slice(0, 3).join(", ").slice(0, 300)}${n > 3 ? " and more" : ""}.`
      : "";
    if (this.message.textContent !== text)
      this.message.replaceChildren(...(n ? [html("p", { class: "warning" }, text)] : []));
  }

  /** Shows how the session is. */
  follow(live: Live): void {
    this.live = live;
    this.head!.follow(live);
    write(this.version, this.head!.name);
    this.views.get(this.current())?.follow?.(live);
  }

  private fail(problem: string): void {
    this.message.replaceChildren(html("p", { class: "warning", role: "alert" }, problem));
    // What a page has, it keeps.
    if (!this.shown) for (const element of [this.list.element, this.title]) element.hidden = true;
  }

  private select(number: number, isShown: boolean): void {
    if (isShown) this.hidden.delete(number);
    else this.hidden.add(number);
    this.list.show(this.runs, this.hidden);
    this.arrange();
    history.replaceState(null, "", this.address(this.current()));
    this.go();
  }

  private arrange(): void {
    const runs = this.runs.filter(({ number }) => !this.hidden.has(number));
    const isSame = this.shown?.total === this.runs.length && sameItems(this.shown.runs, runs);
    if (!isSame) this.shown = keptModels(this.shown, shownOf(runs, this.runs.length, this.head !== undefined));
    for (const link of this.links) {
      link.setAttribute("href", this.address(link.dataset.view!));
      link.hidden = link.dataset.view === "trials" && !this.runs.some(({ run }) => isSearch(run));
    }
  }

  private address(view: string): string {
    return writeAddress({
      view,
      hidden: [...this.hidden].sort((a, b) => a - b),
    });
  }

  private current(): string {
    const { view } = readAddress(location.hash);
    if (!view && !this.runs.length && this.studies.length) return "scaling";
    return Object.hasOwn(this.kinds, view) ? view : Object.keys(this.kinds)[0]!;
  }

  private go(): void {
    if (!this.shown) return;
    const name = this.current();
    const [title, make] = this.kinds[name]!;
    if (!this.head) document.title = `${title} – Podere report`;
    write(this.title, title);
    for (const link of this.links) {
      if (link.dataset.view === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    this.list.element.hidden = this.head !== undefined && !this.shown.total;
    if (!this.shown.runs.length && !Object.hasOwn(kLiveViews, name) && !(name === "scaling" && this.studies.length)) {
      this.place.replaceChildren(
        empty(this.shown.total ? "No run is selected: check one in the list of runs." : this.noRuns()),
      );
      return;
    }
    const view = this.views.get(name) ?? make();
    this.views.set(name, view);
    if (this.place.firstElementChild !== view.element) this.place.replaceChildren(view.element);
    if (this.showing.get(name) !== this.shown) view.show(this.shown);
    view.compare?.(this.studies);
    this.showing.set(name, this.shown);
    if (this.live) view.follow?.(this.live);
  }

  private noRuns(): string {
    if (!this.head)
      return "This report has no runs. `podere train gbt DATA --report out.html` writes one with a run, `podere report FILES -o out.html` puts several together.";
    const name = this.live?.session?.session;
    return name === undefined
      ? "No job has begun yet."
      : `No job has begun yet. Start one: \`podere train gbt DATA --session ${name} --report out.html\``;
  }
}
