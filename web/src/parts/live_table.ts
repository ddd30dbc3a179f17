/** Tables of texts that change all the time: a cell is touched only where its text is another, and there are not too many. */
import { html, short, write } from "../dom";
import { Keyed, type Part } from "./keyed";
import { fixed } from "../format";
import { scrollable } from "./table";

export interface LiveColumn<Row> {
  title: string;
  text(row: Row): string;
  isNumber?: boolean;
  /** Names the row. */
  isHead?: boolean;
  /** Long texts go over several lines. */
  isProse?: boolean;
  /** A class of the text. */
  look?(row: Row): string;
}

class LiveRow<Row> implements Part<Row> {
  private cells: HTMLElement[];
  element: HTMLElement;

  constructor(private columns: LiveColumn<Row>[]) {
    this.cells = columns.map(() => html("bdi"));
    this.element = html(
      "tr",
      {},
      ...columns.map(({ isHead, isNumber, isProse }, i) =>
        html(
          isHead ? "th" : "td",
          { scope: isHead ? "row" : null, class: isNumber ? "number" : isProse ? "prose" : null },
          this.cells[i],
        ),
      ),
    );
  }

  show(row: Row): void {
    this.columns.forEach(({ text, isNumber, isProse, look }, i) => {
      const cell = this.cells[i]!;
      const now = text(row);
      write(cell, short(now, 2000));
      const classes = `${isNumber || isProse ? "" : "name"} ${look?.(row) ?? ""}`.trim();
      if (cell.className !== classes) cell.className = classes;
      const title = !isNumber && !isProse && now.length > 24 ? short(now, 300) : "";
      if (cell.title !== title) cell.title = title;
    });
  }
}

/** More are shown on demand. */
const kAtFirst = 100;

export class LiveTable<Row> {
  readonly element: HTMLElement;
  private rows: Keyed<Row>;
  private all: Row[] = [];
  private isAll = false;
  private more = html("button", {
    type: "button",
    class: "small",
    onclick: () => ((this.isAll = true), this.show(this.all)),
  });

  constructor(caption: string, columns: LiveColumn<Row>[], keyOf: (row: Row) => string) {
    const body = html("tbody");
    this.rows = new Keyed(body, keyOf, () => new LiveRow(columns));
    const heads = columns.map(({ title, isNumber }) =>
      html("th", { scope: "col", class: isNumber ? "number" : null }, title),
    );
    const table = html(
      "table",
      {},
      html("caption", { class: "hidden" }, caption),
      html("thead", {}, html("tr", {}, ...heads)),
      body,
    );
    this.element = html("div", {}, scrollable(caption, table), this.more);
  }

  show(rows: Row[]): void {
    this.all = rows;
    this.more.hidden = this.isAll || rows.length <= kAtFirst;
    write(this.more, `Show all ${fixed(rows.length, 0)}`);
    this.rows.show(this.isAll ? rows : rows.slice(0, kAtFirst));
  }
}
