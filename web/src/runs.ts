/** The list of runs, with boxes for those to show and compare. */
import type { ShownRun } from "./derive/shown";
import { html, named } from "./dom";
import { plural, seconds } from "./format";
import { spot } from "./parts/swatch";

export class RunList {
  private list = html("ul");
  private summary = html("summary");
  private details = html("details", { open: matchMedia("(min-width: 60rem)").matches }, this.summary, this.list);
  readonly element = html("section", { class: "runs", "aria-label": "Runs" }, this.details);

  constructor(private changed: (name: string, isShown: boolean) => void) {}

  show(runs: ShownRun[], hidden: Set<string>): void {
    this.summary.textContent = hidden.size
      ? `Runs: ${runs.length - hidden.size} of ${runs.length} shown`
      : plural(runs.length, "run");
    const focused = Array.from(this.list.children).findIndex((each) => each.contains(document.activeElement));
    this.list.replaceChildren(
      ...runs.map(({ run, series }) => {
        const box = html("input", { type: "checkbox", checked: !hidden.has(run.name) });
        box.addEventListener("change", () => this.changed(run.name, box.checked));
        return html(
          "li",
          {},
          html(
            "label",
            {},
            box,
            spot(series),
            html(
              "span",
              { class: "runtext" },
              named(run.name),
              html(
                "span",
                { class: "soft" },
                `${run.command}${run.seconds === undefined ? "" : `, ${seconds(run.seconds)}`}${run.state === "running" ? ", running" : run.state === "interrupted" ? ", interrupted" : ""}`,
              ),
            ),
          ),
        );
      }),
    );
    this.list.children[focused]?.querySelector("input")?.focus();
  }
}
