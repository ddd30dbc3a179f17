/** How significant the signal is that a cut on the score leaves, and the best cut. */
import { Figure } from "../charts/figure";
import { linesDrawing, type Lines } from "../charts/lines";
import { bestEvidence, classNames, type ModelGroup, type ShownMeasured } from "../derive/shown";
import { cutsOf, kLeastBackgroundRows, kRegularization, type Cut, type Cuts } from "../derive/significance";
import { hasTwoClasses } from "../derive/bins";
import { html, short } from "../dom";
import { count, fixed, percent, significant } from "../format";
import { note, positiveNumber, Select, toolbar } from "../parts/controls";
import type { Part } from "../parts/keyed";
import { plainTable } from "../parts/table";

const kRoot = "s / √b";

const cutText = (name: string, cut: Cut | undefined, value: number | undefined) =>
  cut ? `best ${name} ${significant(value)} at a cut of ${fixed(cut.threshold, 4)}` : `no ${name}`;

function cutsTable({ best }: Cuts, names: string[]): HTMLElement {
  const columns = [best.significance, best.ams];
  const row = (title: string, text: (cut: Cut) => string) => [title, ...columns.map((cut) => (cut ? text(cut) : "–"))];
  const [background = "", signal = ""] = names;
  return plainTable(
    "Best cuts",
    ["", `largest ${kRoot}`, "largest AMS"],
    [
      row("cut", (cut) => fixed(cut.threshold, 4)),
      row(kRoot, (cut) => significant(cut.significance)),
      row("AMS", (cut) => significant(cut.ams)),
      row("s", (cut) => count(cut.s)),
      row("b", (cut) => count(cut.b)),
      row(`efficiency of ${short(signal, 30)}`, (cut) => percent(cut.signalEfficiency)),
      row(`efficiency of ${short(background, 30)}`, (cut) => percent(cut.backgroundEfficiency)),
    ],
  );
}

export class CutsPart implements Part<ModelGroup> {
  private factors = { s: 1, b: 1 };
  private chosen = "";
  private group: ModelGroup | undefined;
  private cuts: Cuts | undefined;
  private select = new Select("rows", (value) => ((this.chosen = value), this.draw()));
  private table = html("div");
  private figure = new Figure<Lines>(
    "Significance over the cut",
    linesDrawing({
      xLabel: () => "cut on the predicted probability",
      yLabel: () => "significance",
      describe: () => {
        const { significance, ams } = this.cuts!.best;
        return `${cutText(kRoot, significance, significance?.significance)}; ${cutText("AMS", ams, ams?.ams)}.`;
      },
    }),
    toolbar(
      this.select.element,
      positiveNumber("factor of s", 1, (value) => ((this.factors.s = value), this.draw())),
      positiveNumber("factor of b", 1, (value) => ((this.factors.b = value), this.draw())),
    ),
  );
  element = html(
    "div",
    {},
    this.figure.element,
    this.table,
    note(
      `s and b are the sums of weights of class 1 and class 0 above the cut, times these factors: set them so that s and b are the counts that you expect. ` +
        `AMS is the formula of Cowan and others with b_reg = ${kRegularization}, as in the HiggsML challenge. Of ${kRoot}, only cuts that leave about ` +
        `${kLeastBackgroundRows} rows of background or more can be the best: with fewer, b is uncertain by more than 20 %.`,
    ),
  );

  show(group: ModelGroup): void {
    this.group = group;
    this.draw();
  }

  private draw(): void {
    const group = this.group!;
    const measured = group.measured.filter(({ measured: { scores } }) => scores && hasTwoClasses(scores.weights));
    this.element.hidden = !measured.length;
    if (!measured.length) return;
    const first = (measured.includes(bestEvidence(group)!) ? bestEvidence(group) : measured.at(-1)) as ShownMeasured;
    this.chosen = this.select.offer(
      measured.map(({ title }) => [title, title.slice(0, 60)]),
      this.chosen || first.title,
    );
    const { scores, n_rows } = measured.find(({ title }) => title === this.chosen)!.measured;
    this.cuts = cutsOf(scores!, this.factors, n_rows);
    const { cuts, best } = this.cuts;
    const marks = [];
    if (best.significance)
      marks.push({
        point: { x: best.significance.threshold, y: best.significance.significance },
        series: 6,
        text: fixed(best.significance.threshold, 4),
      });
    if (best.ams)
      marks.push({ point: { x: best.ams.threshold, y: best.ams.ams }, series: 3, text: fixed(best.ams.threshold, 4) });
    const most = Math.max(0, ...marks.map(({ point }) => point.y));
    this.figure.show({
      lines: [
        {
          title: kRoot,
          figure: significant(best.significance?.significance),
          series: 6,
          dash: "solid",
          points: cuts.map((cut) => ({ x: cut.threshold, y: cut.significance })),
        },
        {
          title: `AMS, b_reg = ${kRegularization}`,
          figure: significant(best.ams?.ams),
          series: 3,
          dash: "dashed",
          points: cuts.map((cut) => ({ x: cut.threshold, y: cut.ams })),
        },
      ],
      x: [0, 1],
      y: [0, most * 1.15 || 1],
      marks,
    });
    this.table.replaceChildren(cutsTable(this.cuts, classNames(group.classes, 2)));
  }
}
