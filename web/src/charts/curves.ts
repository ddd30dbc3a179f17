/** Curves of any length over rounds or seconds, by uPlot: drag to zoom, double-click to see all again. */
import uPlot from "uplot";
import { fileName, html, named, save, short } from "../dom";
import { brief, significant } from "../format";
import type { Part } from "../parts/keyed";
import { labelOf } from "./scale";
import { kDashes, lineSwatch, type Dash } from "../parts/swatch";
import { plainTable } from "../parts/table";

export interface CurveLine {
  title: string;
  series: number;
  dash: Dash;
  x: number[];
  y: number[];
}

/** A vertical line, where something happened. */
export interface CurveMark {
  x: number;
  text: string;
  series: number;
}

export interface Curves {
  lines: CurveLine[];
  marks: CurveMark[];
  xLabel: string;
  isLog: boolean;
  description: string;
}

const kHeight = 300;
/** Charts with this key share their pointer. */
const kSync = uPlot.sync("podere");

const color = (element: Element, name: string) => getComputedStyle(element).getPropertyValue(name).trim();

/** One x for all lines, as uPlot has it. */
export function aligned(lines: CurveLine[]): uPlot.AlignedData {
  if (!lines.length) return [[]];
  return uPlot.join(lines.map(({ x, y }) => [x, y.map((value) => (Number.isFinite(value) ? value : null))]));
}

export class CurveChart implements Part<Curves> {
  readonly element: HTMLElement;
  private plot: HTMLElement;
  private keys = html("div", { class: "key" });
  private details = html("details", {}, html("summary", {}, "Show as table"));
  private chart: uPlot | undefined;
  /** What a chart was made for; another makes another. */
  private made = "";
  private value: Curves | undefined;
  private hidden = new Set<string>();

  constructor(private title: string) {
    this.plot = html("div", { class: "plot", role: "img", "aria-label": title });
    this.element = html(
      "figure",
      {},
      html(
        "figcaption",
        {},
        html("span", { class: "title" }, title),
        html(
          "button",
          {
            type: "button",
            class: "small",
            onclick: () => this.chart && this.showAll(),
            "aria-label": `Show all of ${title}`,
          },
          "Show all",
        ),
        html(
          "button",
          { type: "button", class: "small", onclick: () => this.save(), "aria-label": `Save PNG of ${title}` },
          "Save PNG",
        ),
      ),
      this.plot,
      this.keys,
      this.details,
    );
    this.details.addEventListener("toggle", () => this.tabulate());
    new ResizeObserver(() => this.resize()).observe(this.plot);
    document.addEventListener("podere-theme", () => this.chart?.redraw(false, true));
  }

  show(value: Curves): void {
    this.value = value;
    this.plot.setAttribute("aria-label", `${this.title}. ${value.description}`);
    this.draw();
    this.tabulate();
  }

  private draw(): void {
    const value = this.value;
    const width = Math.floor(this.plot.clientWidth);
    if (!value || width < 50) return;
    const made = JSON.stringify([
      value.xLabel,
      value.isLog,
      value.lines.map(({ title, series, dash }) => [title, series, dash]),
    ]);
    if (this.chart && made === this.made) {
      this.chart.setData(aligned(value.lines), this.isZoomed() ? false : true);
      if (this.isZoomed()) this.chart.redraw();
      return;
    }
    this.chart?.destroy();
    this.made = made;
    this.chart = new uPlot(this.optionsOf(value, width), aligned(value.lines), this.plot);
    this.drawKeys();
  }

  private isZoomed(): boolean {
    const xs = this.chart?.data[0] ?? [];
    const { min, max } = this.chart?.scales.x ?? {};
    return xs.length > 1 && min != null && max != null && (min > xs[0]! || max < xs[xs.length - 1]!);
  }

  private optionsOf(value: Curves, width: number): uPlot.Options {
    const of = (name: string) => () => color(this.element, name);
    const axis: uPlot.Axis = {
      stroke: of("--soft"),
      font: "12px system-ui, sans-serif",
      labelFont: "12px system-ui, sans-serif",
      labelSize: 18,
      grid: { stroke: of("--grid"), width: 1 },
      ticks: { stroke: of("--line"), width: 1, size: 4 },
    };
    const format = (_: uPlot, ticks: (number | null)[], __: number, ___: number, step: number) => {
      const label = labelOf(step, Math.max(...ticks.map((tick) => Math.abs(tick ?? 0))));
      return ticks.map((tick) => (tick === null ? "" : label(tick)));
    };
    const logFormat = (_: uPlot, ticks: (number | null)[]) =>
      ticks.map((tick) => (tick === null ? "" : significant(tick, 2)));
    return {
      width,
      height: kHeight,
      scales: { x: { time: false }, y: value.isLog ? { distr: 3 } : {} },
      axes: [
        { ...axis, label: value.xLabel, size: 32, values: format },
        { ...axis, size: 56, values: value.isLog ? logFormat : format },
      ],
      legend: { show: false },
      cursor: { sync: { key: kSync.key }, points: { size: 7 } },
      series: [
        {},
        ...value.lines.map(({ title, series, dash }) => ({
          label: title,
          stroke: of(`--series-${series}`),
          width: 1.75,
          dash: kDashes[dash],
          spanGaps: true,
          show: !this.hidden.has(title),
          points: { show: (_: uPlot, __: number, from: number, to: number) => to - from < 3 },
        })),
      ],
      hooks: {
        draw: [(chart) => this.drawMarks(chart)],
        setCursor: [(chart) => this.readOut(chart)],
      },
    };
  }

  private drawMarks(chart: uPlot): void {
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    const { min = 0, max = 0 } = chart.scales.x ?? {};
    for (const mark of this.value?.marks ?? []) {
      if (min === null || max === null || mark.x < min || mark.x > max) continue;
      const at = Math.round(chart.valToPos(mark.x, "x", true));
      const isRight = at > bbox.left + bbox.width / 2;
      ctx.strokeStyle = ctx.fillStyle = color(this.element, `--series-${mark.series}`);
      ctx.lineWidth = 1.5 * devicePixelRatio;
      ctx.setLineDash([6 * devicePixelRatio, 3 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(at, bbox.top);
      ctx.lineTo(at, bbox.top + bbox.height);
      ctx.stroke();
      ctx.fillStyle = color(this.element, "--soft");
      ctx.textAlign = isRight ? "right" : "left";
      ctx.fillText(short(mark.text, 40), at + (isRight ? -5 : 5) * devicePixelRatio, bbox.top + 12 * devicePixelRatio);
    }
    ctx.restore();
  }

  private drawKeys(): void {
    this.keys.replaceChildren(
      ...this.value!.lines.map(({ title, series, dash }, i) => {
        const button = html(
          "button",
          { type: "button", class: "series", "aria-pressed": String(!this.hidden.has(title)) },
          lineSwatch(series, dash),
          named(title),
          html("b", { class: "value" }),
        );
        button.addEventListener("click", () => {
          const isShown = this.hidden.delete(title);
          if (!isShown) this.hidden.add(title);
          button.setAttribute("aria-pressed", String(isShown));
          this.chart?.setSeries(i + 1, { show: isShown });
        });
        return button;
      }),
    );
  }

  /** The values where the pointer is, otherwise the last ones. */
  private readOut(chart: uPlot): void {
    const at = chart.cursor.idx;
    this.keys.querySelectorAll(".value").forEach((place, i) => {
      const values = (chart.data[i + 1] ?? []) as (number | null)[];
      const value = at == null ? values.findLast((each) => each != null) : values[at];
      place.textContent = value == null ? "" : ` ${significant(value)}`;
    });
  }

  private resize(): void {
    const width = Math.floor(this.plot.clientWidth);
    if (!this.chart) this.draw();
    else if (width > 50 && width !== this.chart.width) this.chart.setSize({ width, height: kHeight });
  }

  private showAll(): void {
    this.chart!.setData(this.chart!.data, true);
  }

  private tabulate(): void {
    if (!this.value || !this.details.open) return;
    while (this.details.children.length > 1) this.details.lastElementChild!.remove();
    const [x = [], ...ys] = aligned(this.value.lines) as (number | null)[][];
    const every = Math.ceil(x.length / 200);
    const places = x.map((_, i) => i).filter((i) => i % every === 0 || i === x.length - 1);
    this.details.append(
      plainTable(
        this.title,
        [this.value.xLabel, ...this.value.lines.map(({ title }) => short(title, 60))],
        places.map((i) => [brief(x[i]), ...ys.map((values) => significant(values[i]))]),
      ),
    );
  }

  private save(): void {
    const canvas = this.plot.querySelector("canvas");
    if (!canvas) return;
    const copy = html("canvas", { width: canvas.width, height: canvas.height });
    const context = copy.getContext("2d")!;
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, copy.width, copy.height);
    context.drawImage(canvas, 0, 0);
    copy.toBlob((content) => content && save(fileName(this.title, "png"), content));
  }
}
