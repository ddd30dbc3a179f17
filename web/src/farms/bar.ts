/** The executors of a farm as a bar: marks differ in form, too, for those who do not see colors. */
import { html } from "../dom";
import { fixed } from "../format";
import { countsOf, type Counts, type Farm } from "./farms";

/** Also in small parts of a large cluster something is to be seen. */
const kLeast = "3px";

const kParts: [name: string, of: (counts: Counts) => number][] = [
  ["guaranteed", ({ running, borrowed }) => running - borrowed],
  ["borrowed", ({ borrowed }) => borrowed],
  ["ending", ({ ending }) => ending],
  ["pending", ({ pending }) => pending],
];

export const lengthOf = (farm: Farm) => kParts.reduce((sum, [, of]) => sum + Math.max(0, of(countsOf(farm))), 0);

/** What marks mean. */
export const barKey = () =>
  html(
    "div",
    { class: "key" },
    ...kParts.map(([name]) => html("span", {}, html("span", { class: `lot ${name}` }), name)),
  );

export class FarmBar {
  private parts = kParts.map(([name]) => html("span", { class: `lot ${name}` }));
  readonly element = html("span", { class: "farmbar", role: "img" }, ...this.parts);

  /** `longest` executors are as long as there is room. */
  show(farm: Farm, longest: number): void {
    const counts = countsOf(farm);
    const texts: string[] = [];
    kParts.forEach(([name, of], i) => {
      const n = Math.max(0, of(counts));
      const { style } = this.parts[i]!;
      const width = n ? `max(${kLeast}, ${((100 * n) / longest).toFixed(3)}%)` : "0px";
      if (style.width !== width) style.width = width;
      this.parts[i]!.hidden = !n;
      if (n) texts.push(`${fixed(n, 0)} ${name}`);
    });
    this.element.setAttribute("aria-label", texts.join(", ") || (farm.status ? "no executors" : "not known yet"));
  }
}
