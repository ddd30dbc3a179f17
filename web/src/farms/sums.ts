/** The executors of all farms in a line. */
import { html, write } from "../dom";
import { fixed } from "../format";
import { isBelowGuarantee, totalOf, type Counts, type Farm } from "./farms";

const kTitles: (keyof Counts)[] = ["guaranteed", "running", "borrowed", "pending", "ending"];

export class Sums {
  private figures = ["farms", ...kTitles].map(() => html("span", { class: "figure" }));
  private below = html("span", { class: "soft" });
  readonly element = html(
    "dl",
    { class: "tiles sums", hidden: true },
    ...["farms", ...kTitles].map((title, i) =>
      html("div", { class: "tile" }, html("dt", {}, title), html("dd", {}, this.figures[i], i ? null : this.below)),
    ),
  );

  show(farms: Farm[]): void {
    const total = totalOf(farms);
    [farms.length, ...kTitles.map((title) => total[title])].forEach((n, i) => write(this.figures[i]!, fixed(n, 0)));
    const n = farms.filter(isBelowGuarantee).length;
    write(this.below, n ? `${fixed(n, 0)} below ${n === 1 ? "its" : "their"} guarantee` : "");
  }
}
