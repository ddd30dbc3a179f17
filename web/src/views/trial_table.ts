/** The table of the trials of a search: the best first, or in the order of any column. */
import { optionText, searchedOptions } from "../derive/options";
import { isMaximized, unitOf } from "../derive/trials";
import { html, named, short } from "../dom";
import { count, significant, words } from "../format";
import type { Part } from "../parts/keyed";
import { cells, compare, SortableHead, type Order, type TableColumn } from "../parts/table";
import { VirtualRows } from "../parts/virtual";
import type { Search, Trial } from "../trials";

const kRow = 24;
const kScore = 2;

function columnsOf(search: Search): TableColumn<Trial>[] {
  const options = searchedOptions(search.trials).map(({ name, title, categories }): TableColumn<Trial> => {
    const isNumber = !categories.length;
    const value = ({ setting }: Trial) => setting[name] ?? (isNumber ? NaN : "");
    const sortedBy = (trial: Trial) => (isNumber ? Number(value(trial)) : String(value(trial)));
    return {
      title: short(title),
      isNumber,
      hint: title,
      value: sortedBy,
      cell: ({ setting }) => named(optionText(setting[name])),
    };
  });
  const error = ({ facts }: Trial) => facts?.error ?? "";
  const deviation = ({ facts }: Trial) => facts?.standard_error ?? NaN;
  return [
    { title: "trial", isHead: true, value: ({ trial }) => trial, cell: ({ trial }) => String(trial) },
    { title: "state", value: ({ state }) => state, cell: ({ state }) => state },
    {
      title: short(words(search.score ?? "score")),
      isNumber: true,
      value: ({ score = NaN }) => score,
      cell: ({ score }) => significant(score, 5),
    },
    ...(search.trials.some((trial) => !Number.isNaN(deviation(trial)))
      ? [
          {
            title: "±",
            isNumber: true,
            hint: "standard error of the mean over folds",
            value: deviation,
            cell: (trial: Trial) => significant(deviation(trial), 2),
          },
        ]
      : []),
    {
      title: "after",
      isNumber: true,
      hint: `${unitOf(search)}s after which it was best`,
      value: ({ budget = NaN }) => budget,
      cell: ({ budget }) => count(budget),
    },
    ...options,
    ...(search.trials.some(error)
      ? [{ title: "cause", value: error, cell: (trial: Trial) => named(error(trial) || "–") }]
      : []),
  ];
}

export class TrialTable implements Part<Search> {
  readonly element: HTMLElement;
  private head = new SortableHead<Trial>((order) => {
    this.order = order;
    this.draw();
  });
  private table = html(
    "table",
    { class: "tasks fitted" },
    html("caption", { class: "hidden" }, "Trials"),
    html("thead", {}, this.head.element),
  );
  private rows: VirtualRows;
  private all: Trial[] = [];
  private sorted: Trial[] = [];
  private columns: TableColumn<Trial>[] = [];
  private order: Order | undefined;

  constructor() {
    this.rows = new VirtualRows("Trials", this.table, kRow, (place) =>
      html("tr", {}, ...cells(this.columns, this.sorted[place]!)),
    );
    this.element = this.rows.scroller;
  }

  show(search: Search): void {
    this.all = search.trials;
    this.columns = columnsOf(search);
    this.order ??= { column: kScore, isDescending: isMaximized(search) };
    this.draw();
  }

  private draw(): void {
    const { column, isDescending } = this.order!;
    const value = this.columns[column]!.value!;
    this.sorted = [...this.all].sort((a, b) => compare(value(a), value(b), isDescending) || a.trial - b.trial);
    this.head.show(this.columns, this.order);
    this.rows.show(this.sorted.length);
  }
}
