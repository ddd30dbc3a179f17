/** The executors of all farms in a line. */
import { html, write } from "../dom";
import { fixed } from "../format";
import { isBelowGuarantee, totalOf, type Counts, type Farm } from "./farms";

const kCounts: (keyof Counts)[] = ["guaranteed", "running", "borrowed", "pending", "ending"];
const kTitles = ["farms", "below guarantee", ...kCounts];

export class Sums {
  private figures = kTitles.map(() => html("span", { class: "figure" }));
  readonly element = html(
    "dl",
    { class: "tiles sums", hidden: true },
    ...kTitles.map((title, i) =>
      html("div", { class: "tile" }, html("dt", {}, title), html("dd", {}, this.figures[i])),
    ),
  );

  show(farms: Farm[]): void {
    const total = totalOf(farms);
    const below = farms.filter(isBelowGuarantee).length;
    const figures = [farms.length, below, ...kCounts.map((key) => total[key])];
    figures.forEach((n, i) => write(this.figures[i]!, fixed(n, 0)));
    this.figures[1]!.classList.toggle("alarm", below > 0);
  }
}
