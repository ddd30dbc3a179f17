/** The list of runs, with boxes for those to show and compare. */
import type { ShownRun } from "./derive/shown";
import { html, named, write } from "./dom";
import { plural, seconds } from "./format";
import { Keyed, type Part } from "./parts/keyed";
import { spot } from "./parts/swatch";
import type { Run } from "./report";

interface Item {
  run: ShownRun;
  isShown: boolean;
}

const about = ({ command, seconds: took, state }: Run) =>
  `${command}${took === undefined ? "" : `, ${seconds(took)}`}${state === undefined || state === "done" ? "" : `, ${state}`}`;

export class RunList {
  private list = html("ul");
  private summary = html("summary");
  private details = html("details", { open: matchMedia("(min-width: 60rem)").matches }, this.summary, this.list);
  private items = new Keyed<Item>(
    this.list,
    ({ run }) => `${run.number} ${run.run.name}`,
    (item) => this.make(item),
  );
  readonly element = html("section", { class: "runs", "aria-label": "Runs" }, this.details);

  /** `more` stands behind the runs. */
  constructor(
    private changed: (number: number, isShown: boolean) => void,
    more?: HTMLElement,
  ) {
    if (more) this.details.append(more);
  }

  show(runs: ShownRun[], hidden: Set<number>): void {
    const n = runs.filter(({ number }) => hidden.has(number)).length;
    write(this.summary, n ? `Runs: ${runs.length - n} of ${runs.length} shown` : plural(runs.length, "run"));
    this.items.show(runs.map((run) => ({ run, isShown: !hidden.has(run.number) })));
  }

  private make({ run: { number, run } }: Item): Part<Item> {
    const box = html("input", { type: "checkbox" });
    box.addEventListener("change", () => this.changed(number, box.checked));
    const color = html("span", { class: "spot" });
    const text = html("span", { class: "soft" });
    return {
      element: html("li", {}, html("label", {}, box, color, html("span", { class: "runtext" }, named(run.name), text))),
      show: ({ run: now, isShown }) => {
        box.checked = isShown;
        color.replaceChildren(spot(now.series));
        write(text, about(now.run));
      },
    };
  }
}
