/** A table of features with bars: sorted by its heads, narrowed by a search, and cut to the first 30 until all are asked for. */
import { html, named } from "../dom";
import { brief, fixed, plural, significant } from "../format";
import { search, toolbar } from "./controls";
import { SortableTable, type TableColumn } from "./table";

export interface BarRow {
  name: string;
  values: (number | undefined)[];
}

const kTop = 30;

export function bar(value: number | undefined, largest: number, text = significant(value)): HTMLElement {
  const length = html("span", { class: "length", "aria-hidden": "true" });
  length.style.width = `${largest > 0 ? (100 * Math.max(0, value ?? 0)) / largest : 0}%`;
  return html(
    "span",
    { class: "barcell" },
    html("span", { class: "track" }, length),
    html("span", { class: "barvalue" }, text),
  );
}

export class BarTable {
  readonly element: HTMLElement;
  private table: SortableTable<BarRow & { share: number }>;
  private rows: BarRow[] = [];
  private text = "";
  private isAll = false;
  private more = html("button", {
    type: "button",
    class: "small",
    onclick: () => ((this.isAll = !this.isAll), this.draw()),
  });
  private status = html("span", { class: "soft", role: "status" });

  /** The first value is the one that has bars and shares. */
  constructor(
    caption: string,
    private titles: string[],
  ) {
    this.table = new SortableTable(caption, this.columns(1), { column: 1, isDescending: true });
    this.element = html(
      "div",
      {},
      toolbar(
        search("Search features", (text) => ((this.text = text), this.draw())),
        this.more,
        this.status,
      ),
      this.table.element,
    );
  }

  show(rows: BarRow[], series: number): void {
    this.rows = rows;
    this.element.className = `series-${series}`;
    this.draw();
  }

  private columns(largest: number): TableColumn<BarRow & { share: number }>[] {
    return [
      { title: "feature", isHead: true, value: ({ name }) => name, cell: ({ name }) => named(name) },
      {
        title: this.titles[0]!,
        isNumber: true,
        value: ({ values }) => values[0] ?? NaN,
        cell: ({ values }) => bar(values[0], largest),
      },
      {
        title: "share",
        isNumber: true,
        value: ({ share }) => share,
        cell: ({ share }) => `${fixed(100 * share, 1)} %`,
      },
      ...this.titles.slice(1).map((title, i) => ({
        title,
        isNumber: true,
        value: ({ values }: BarRow) => values[i + 1] ?? NaN,
        cell: ({ values }: BarRow) => brief(values[i + 1]),
      })),
    ];
  }

  private draw(): void {
    const total = this.rows.reduce((sum, { values }) => sum + (values[0] ?? 0), 0);
    const found = this.rows.filter(({ name }) => name.toLowerCase().includes(this.text));
    const largest = Math.max(0, ...this.rows.map(({ values }) => values[0] ?? 0));
    const top = [...found]
      .sort((a, b) => (b.values[0] ?? 0) - (a.values[0] ?? 0))
      .slice(0, this.isAll ? undefined : kTop);
    this.more.hidden = found.length <= kTop;
    this.more.textContent = this.isAll ? `Show the top ${kTop}` : `Show all ${fixed(found.length, 0)}`;
    this.status.textContent = found.length < this.rows.length ? `${plural(found.length, "feature")} found` : "";
    this.table.show(
      top.map((row) => ({ ...row, share: total > 0 ? (row.values[0] ?? 0) / total : NaN })),
      this.columns(largest),
    );
  }
}
