/** Tables that can be sorted by each column. */
import { html, type Child } from "../dom";

export interface TableColumn<Row> {
  title: string;
  /** What the cell shows. */
  cell(row: Row): Child;
  /** What the column is sorted by. Without it, it cannot be sorted. */
  value?(row: Row): number | string;
  isNumber?: boolean;
  /** The first column names the row. */
  isHead?: boolean;
  hint?: string;
}

export interface Order {
  column: number;
  isDescending: boolean;
}

/** Made once: localeCompare makes one for each comparison. */
const kTexts = new Intl.Collator("en", { numeric: true });

/** Numbers that are absent come last either way. */
export function compare(a: number | string, b: number | string, isDescending: boolean): number {
  if (typeof a === "string" || typeof b === "string")
    return kTexts.compare(String(a), String(b)) * (isDescending ? -1 : 1);
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return isDescending ? b - a : a - b;
}

/** The head of a table: titles of columns that can be sorted are buttons. */
export class SortableHead<Row> {
  readonly element = html("tr");
  /** What it shows: it is made anew only for another, since a button that is replaced under the pointer gets no click. */
  private shown = "";

  constructor(private sort: (order: Order) => void) {}

  show(columns: TableColumn<Row>[], order: Order | undefined): void {
    const now = JSON.stringify([columns.map(({ title }) => title), order]);
    if (now === this.shown) return;
    this.shown = now;
    const focused = Array.from(this.element.children).findIndex((cell) => cell.contains(document.activeElement));
    this.element.replaceChildren(...columns.map((column, i) => this.cell(column, i, order)));
    this.element.children[focused]?.querySelector("button")?.focus();
  }

  private cell(column: TableColumn<Row>, i: number, order: Order | undefined): HTMLElement {
    const classes = column.isNumber ? "number" : null;
    if (!column.value) return html("th", { scope: "col", class: classes, title: column.hint }, column.title);
    const isSorted = order?.column === i;
    const direction = isSorted ? (order.isDescending ? "descending" : "ascending") : null;
    const next = { column: i, isDescending: isSorted ? !order.isDescending : Boolean(column.isNumber) };
    return html(
      "th",
      { scope: "col", class: classes, title: column.hint, "aria-sort": direction },
      html(
        "button",
        { type: "button", onclick: () => this.sort(next) },
        column.title,
        html("span", { class: "arrow", "aria-hidden": "true" }, isSorted ? (order.isDescending ? "▼" : "▲") : ""),
      ),
    );
  }
}

export const cells = <Row>(columns: TableColumn<Row>[], row: Row) =>
  columns.map((column) =>
    column.isHead
      ? html("th", { scope: "row" }, column.cell(row))
      : html("td", { class: column.isNumber ? "number" : null }, column.cell(row)),
  );

export class SortableTable<Row> {
  readonly element: HTMLElement;
  private head = new SortableHead<Row>((order) => {
    this.order = order;
    this.draw();
  });
  private body = html("tbody");
  private rows: Row[] = [];

  constructor(
    caption: string,
    private columns: TableColumn<Row>[],
    private order?: Order,
  ) {
    const table = html(
      "table",
      {},
      html("caption", { class: "hidden" }, caption),
      html("thead", {}, this.head.element),
      this.body,
    );
    this.element = scrollable(caption, table);
  }

  show(rows: Row[], columns = this.columns): void {
    this.rows = rows;
    this.columns = columns;
    this.draw();
  }

  private draw(): void {
    this.head.show(this.columns, this.order);
    const value = this.order && this.columns[this.order.column]?.value;
    const sorted = value
      ? [...this.rows].sort((a, b) => compare(value(a), value(b), this.order!.isDescending))
      : this.rows;
    this.body.replaceChildren(...sorted.map((row) => html("tr", {}, ...cells(this.columns, row))));
  }
}

/** Wide tables scroll by themselves, by keyboard too, and not with the page. */
export const scrollable = (label: string, table: HTMLElement) =>
  html("div", { class: "scrollable", tabindex: 0, role: "group", "aria-label": label }, table);

/** A table of texts. */
export function plainTable(caption: string, titles: string[], rows: Child[][], firstIsHead = true): HTMLElement {
  const isNumber = (text: Child) => typeof text === "string" && /^(–|[−\d])/.test(text);
  const cell = (text: Child, i: number) =>
    i === 0 && firstIsHead
      ? html("th", { scope: "row" }, text)
      : html("td", { class: isNumber(text) ? "number" : null }, text);
  return scrollable(
    caption,
    html(
      "table",
      {},
      html("caption", { class: "hidden" }, caption),
      html(
        "thead",
        {},
        html(
          "tr",
          {},
          ...titles.map((title, i) =>
            title
              ? html(
                  "th",
                  { scope: "col", class: rows.some((row) => i > 0 && isNumber(row[i])) ? "number" : null },
                  title,
                )
              : html("td"),
          ),
        ),
      ),
      html("tbody", {}, ...rows.map((row) => html("tr", {}, ...row.map(cell)))),
    ),
  );
}
