/** The page: head, list of runs, and the view that the address names. */
import { readAddress, writeAddress } from "./address";
import { colored, shownOf, type Shown, type ShownRun } from "./derive/shown";
import { html } from "./dom";
import { plural } from "./format";
import { empty } from "./parts/controls";
import type { Reading } from "./read";
import { RunList } from "./runs";
import { themeSwitch } from "./theme";
import { cost } from "./views/cost";
import { data } from "./views/data";
import { modelView } from "./views/model";
import { overview } from "./views/overview";
import { quality } from "./views/quality";
import { training } from "./views/training";
import type { View } from "./views/view";

const kViews: Record<string, [title: string, make: () => View]> = {
  overview: ["Overview", overview],
  training: ["Training", training],
  quality: ["Quality", quality],
  model: ["Model", modelView],
  data: ["Data", data],
  cost: ["Cost", cost],
};
const kFirst = "overview";

export class App {
  private views = new Map<string, View>();
  private runs: ShownRun[] = [];
  private hidden = new Set<string>();
  private shown: Shown | undefined;
  /** What each view shows; another is shown once the view is. */
  private showing = new Map<string, Shown>();
  private title = html("h2", { tabindex: -1 });
  private place = html("div", { class: "view" });
  private message = html("div", { role: "status" });
  private version = html("span", { class: "soft" });
  private list = new RunList((name, isShown) => this.select(name, isShown));
  private links = Object.entries(kViews).map(([name, [title]]) =>
    html("a", { href: `#${name}`, "data-view": name }, title),
  );

  constructor(page: HTMLElement) {
    const main = html("main", { id: "content" }, this.message, this.title, this.place);
    page.replaceChildren(
      html(
        "a",
        { class: "skip", href: "#content", onclick: (event: Event) => (event.preventDefault(), this.title.focus()) },
        "Skip to the content",
      ),
      html("header", {}, html("h1", {}, "Podere ", this.version), themeSwitch()),
      html("nav", { "aria-label": "Views" }, ...this.links),
      html("div", { class: "body" }, this.list.element, main),
    );
    addEventListener("hashchange", () => this.go());
  }

  /** Shows a document, the first or a newer one. */
  show(reading: Reading): void {
    if ("problem" in reading) return this.fail(reading.problem);
    const { runs, version } = reading.report;
    const isFirst = !this.shown;
    this.version.textContent = version ? `report · ${version}` : "report";
    this.message.replaceChildren(
      ...(reading.damage.length
        ? [
            html(
              "p",
              { class: "warning" },
              `${plural(reading.damage.length, "part")} of this report ${reading.damage.length > 1 ? "are" : "is"} damaged and left out: ${reading.damage.slice(0, 3).join(", ").slice(0, 300)}${reading.damage.length > 3 ? " and more" : ""}.`,
            ),
          ]
        : []),
    );
    this.runs = colored(runs);
    if (isFirst)
      this.hidden = new Set(
        readAddress(location.hash)
          .hidden.map((number) => runs[number - 1]?.name)
          .filter((name) => name !== undefined),
      );
    this.list.show(this.runs, this.hidden);
    this.arrange();
    this.go();
  }

  private fail(problem: string): void {
    this.message.replaceChildren(html("p", { class: "warning", role: "alert" }, problem));
    // What a page has, it keeps.
    if (!this.shown) for (const element of [this.list.element, this.title]) element.hidden = true;
  }

  private select(name: string, isShown: boolean): void {
    if (isShown) this.hidden.delete(name);
    else this.hidden.add(name);
    this.list.show(this.runs, this.hidden);
    this.arrange();
    history.replaceState(null, "", this.address(this.current()));
    this.go();
  }

  private arrange(): void {
    this.shown = shownOf(
      this.runs.filter(({ run }) => !this.hidden.has(run.name)),
      this.runs.length,
    );
    for (const link of this.links) link.setAttribute("href", this.address(link.dataset.view!));
  }

  private address(view: string): string {
    return writeAddress({
      view,
      hidden: this.runs.flatMap(({ run }, i) => (this.hidden.has(run.name) ? [i + 1] : [])),
    });
  }

  private current(): string {
    const { view } = readAddress(location.hash);
    return Object.hasOwn(kViews, view) ? view : kFirst;
  }

  private go(): void {
    if (!this.shown) return;
    const name = this.current();
    const [title, make] = kViews[name]!;
    document.title = `${title} – Podere report`;
    this.title.textContent = title;
    for (const link of this.links) {
      if (link.dataset.view === name) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    if (!this.shown.runs.length) {
      this.place.replaceChildren(
        empty(
          this.shown.total
            ? "No run is selected: check one in the list of runs."
            : "This report has no runs. `podere train gbt DATA --report out.html` writes one with a run, `podere report FILES -o out.html` puts several together.",
        ),
      );
      return;
    }
    const view = this.views.get(name) ?? make();
    this.views.set(name, view);
    if (this.place.firstElementChild !== view.element) this.place.replaceChildren(view.element);
    if (this.showing.get(name) !== this.shown) view.show(this.shown);
    this.showing.set(name, this.shown);
  }
}
