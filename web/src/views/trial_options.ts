/** Which options of a search matter, and how the score depends on each, over trials that were measured after as many rounds. */
import { Figure } from "../charts/figure";
import { scatterDrawing, type Scatter } from "../charts/scatter";
import { importanceOf, kLeastTrials } from "../derive/importance";
import type { Option } from "../derive/options";
import { comparedBudget, kManyTrials, scoresByBudget, type Scored } from "../derive/trials";
import { html, named } from "../dom";
import { percent, plural } from "../format";
import { bar } from "../parts/bars";
import { empty, note, Select, toolbar } from "../parts/controls";
import { Keyed } from "../parts/keyed";
import { SortableTable, type TableColumn } from "../parts/table";
import type { Search } from "../trials";
import type { TrialCharts } from "./trial_charts";

interface OptionShare {
  option: Option;
  share: number;
}

const kShares = (largest: number): TableColumn<OptionShare>[] => [
  { title: "option", isHead: true, value: ({ option }) => option.title, cell: ({ option }) => named(option.title) },
  {
    title: "explains",
    isNumber: true,
    value: ({ share }) => share,
    cell: ({ share }) => bar(share, largest, percent(share)),
  },
];

export class OptionsPart {
  private select = new Select("scores after", (value) => this.draw(Number(value)));
  private table = new SortableTable<OptionShare>("Importance of options", kShares(1), {
    column: 1,
    isDescending: true,
  });
  private text = html("div");
  private figures = new Keyed<[option: Option, scatter: Scatter]>(
    html("div", { class: "grid columns" }),
    ([{ name }]) => name,
    ([{ title }]) => {
      const figure = new Figure<Scatter>(title, scatterDrawing({}, 220));
      return { element: figure.element, show: ([, scatter]) => figure.show(scatter) };
    },
  );
  private scores = new Map<number, Scored[]>();
  private options: Option[] = [];
  private charts: TrialCharts | undefined;
  readonly element = html(
    "div",
    {},
    html("h4", {}, "Importance of options"),
    toolbar(this.select.element),
    this.text,
    this.table.element,
    this.figures.element,
  );

  show(search: Search, options: Option[], charts: TrialCharts, series: number): void {
    this.table.element.classList.add(`series-${series}`);
    this.scores = scoresByBudget(search);
    this.options = options;
    this.charts = charts;
    const chosen = this.select.offer(
      [...this.scores].map(([budget, of]) => [
        String(budget),
        `${plural(budget, charts.unit)} (${plural(of.length, "trial")})`,
      ]),
      String(comparedBudget(this.scores)),
    );
    this.draw(Number(chosen));
  }

  private draw(budget: number): void {
    const scored = this.scores.get(budget) ?? [];
    const shares = this.options.map((option) => ({ option, share: importanceOf(option, scored) }));
    const has = scored.length >= kLeastTrials;
    this.table.element.hidden = !has;
    this.table.show(shares, kShares(Math.max(0, ...shares.map(({ share }) => share || 0))));
    const over = `${plural(scored.length, "trial")} that ${scored.length === 1 ? "was" : "were"} measured after ${plural(budget, this.charts!.unit)}`;
    this.text.replaceChildren(
      has
        ? note(
            `Of the differences between ${over}, how much an option explains by itself: the share of the variance of their ranks that lies between groups of trials with about the same value, less what chance would put there (Kruskal and Wallis' η²). ` +
              "What options do together is not in it, and a search that learns, such as TPE, changes options together: then one may have what is another's." +
              (scored.length < kManyTrials ? " These are few trials: shares are rough." : ""),
          )
        : empty(
            `Importance needs ${kLeastTrials} trials with a score: there ${scored.length === 1 ? "is" : "are"} ${over}.`,
          ),
    );
    this.figures.show(this.options.map((option) => [option, this.charts!.byOption(option, scored, budget)]));
  }
}
