/** A farm's executors over time, as steps. */
import { Figure } from "../charts/figure";
import { linesDrawing, type Line, type Lines } from "../charts/lines";
import { clock, fixed, plural } from "../format";
import type { Part } from "../parts/keyed";
import { historyOf, type Farm, type Moment } from "./farms";

/** The last step grows with the time, but seldom: each picture is a new one. */
const kSeconds = 10;
/** So long at least is the time that is shown. */
const kShortest = 60;

const atSecond = (seconds: number) => new Date(1000 * seconds);
const drawing = linesDrawing({
  xLabel: () => "time of day",
  yLabel: () => "executors",
  xText: (seconds) => clock(atSecond(seconds)),
  describe({ lines, x }) {
    const changes = lines[0]!.points.length - 1;
    const now = lines.map(({ title, points }) => `${fixed(points.at(-1)?.y, 0)} ${title}`).join(", ");
    return `${plural(changes, "state")} since ${clock(atSecond(x![0]))}, at last ${now}`;
  },
  height: 220,
});

function linesOf(moments: Moment[], guaranteed: number, now: number): Lines {
  const [first, last] = [moments[0]!, moments.at(-1)!];
  const until = Math.max(now, last.at, first.at + kShortest);
  const line = (title: "running" | "pending" | "ending", series: number, dash: Line["dash"]): Line => ({
    title,
    series,
    dash,
    isStep: true,
    points: [...moments, { ...last, at: Math.max(now, last.at) }].map((each) => ({ x: each.at, y: each[title] })),
  });
  const lines = [line("running", 0, "solid"), line("pending", 1, "dashed"), line("ending", 3, "dotted")];
  const highest = Math.max(1, guaranteed, ...moments.flatMap(({ running, pending, ending }) => [running, pending, ending]));
  const ends = [first.at, until].map((x) => ({ x, y: guaranteed }));
  return {
    lines: [...lines, { title: "guaranteed", series: 6, dash: "dashed", isThin: true, points: ends }],
    x: [first.at, until],
    y: [0, highest],
    isClockX: true,
    isWholeY: true,
  };
}

export class HistoryChart implements Part<Farm> {
  private figure = new Figure<Lines>("Executors over time", drawing);
  readonly element = this.figure.element;
  private shown = "";

  show(farm: Farm): void {
    const moments = historyOf(farm);
    this.element.hidden = !moments.length;
    if (!moments.length) return;
    const now = Math.floor(Date.now() / 1000 / kSeconds) * kSeconds;
    const lines = linesOf(moments, farm.guaranteed ?? 0, now);
    const drawn = JSON.stringify(lines);
    if (drawn === this.shown) return;
    this.shown = drawn;
    this.figure.show(lines);
  }
}
