/** A confusion matrix as a table whose cells are shaded by their share of the true class. */
import { html, named } from "../dom";
import { count, percent } from "../format";
import { sum } from "../derive/bins";
import { byClass } from "../derive/confusion";
import { scrollable } from "../parts/table";

export function confusionTable(
  caption: string,
  confusion: number[][],
  classes: string[],
  isShares: boolean,
): HTMLElement {
  const ofClass = byClass(confusion);
  const cell = (value: number, row: number[], isRight: boolean) => {
    const share = value / sum(row);
    const element = html(
      "td",
      { class: `number cell ${isRight ? "right" : "wrong"}`, title: isShares ? count(value) : percent(share) },
      isShares ? percent(share) : count(value),
    );
    element.style.setProperty("--share", String(Math.round(45 * Math.max(0, share || 0)) / 100));
    return element;
  };
  const table = html(
    "table",
    { class: "confusion" },
    html("caption", {}, caption),
    html(
      "thead",
      {},
      html(
        "tr",
        {},
        html("th", { scope: "col" }, "true class"),
        ...classes.map((name) => html("th", { scope: "col", class: "number" }, "as ", named(name))),
        html(
          "th",
          { scope: "col", class: "number", title: "of the rows of this class, the share that was predicted as such" },
          "recall",
        ),
        html(
          "th",
          { scope: "col", class: "number", title: "of the rows predicted as this class, the share that is of it" },
          "precision",
        ),
      ),
    ),
    html(
      "tbody",
      {},
      ...confusion.map((row, k) =>
        html(
          "tr",
          {},
          html("th", { scope: "row" }, named(classes[k]!)),
          ...row.map((value, j) => cell(value, row, j === k)),
          html("td", { class: "number" }, percent(ofClass[k]!.recall)),
          html("td", { class: "number" }, percent(ofClass[k]!.precision)),
        ),
      ),
    ),
  );
  return scrollable(caption, table);
}
