/** A time line: a bar of read, compute and wait for each executor. Thousands of executors scroll. */
import { html, short, svg } from "../dom";
import { plural, seconds } from "../format";
import type { Part } from "../parts/keyed";
import { VirtualRows } from "../parts/virtual";
import { lengthOf, type ExecutorLine, type Span, type TimeLine } from "../derive/cost";
import { linear } from "./scale";

export interface ShownTimeLine {
  line: TimeLine;
  /** Only this phase; -1 for all. */
  phase: number;
  order: "executor" | "run";
}

const kRow = 20;
const kKinds = ["read", "compute", "wait"] as const;

export class TimeLineChart implements Part<ShownTimeLine> {
  readonly element: HTMLElement;
  private axis = html("td", { class: "times" });
  private rows: VirtualRows;
  private executors: ExecutorLine[] = [];
  private range: [number, number] = [0, 1];
  private value: ShownTimeLine | undefined;

  constructor(label: string) {
    const table = html("table", { class: "timeline" },
      html("caption", { class: "hidden" }, label),
      html("thead", {}, html("tr", { "aria-rowindex": 1 }, html("th", { scope: "col" }, "executor"), this.axis)));
    this.rows = new VirtualRows(label, table, kRow, (place) => this.rowOf(this.executors[place]!));
    this.element = this.rows.scroller;
    let width = 0;
    new ResizeObserver(() => {
      if (this.axis.clientWidth !== width && this.value) this.show(this.value);
      width = this.axis.clientWidth;
    }).observe(this.axis);
  }

  show(value: ShownTimeLine): void {
    this.value = value;
    const { line, phase, order } = value;
    const spans = line.executors.flatMap((each) => this.spansOf(each));
    this.range = phase < 0 ? [0, line.end] : [
      spans.reduce((least, { begin }) => Math.min(least, begin), Infinity),
      spans.reduce((most, span) => Math.max(most, span.begin + lengthOf(span)), 0),
    ];
    const runOf = (each: ExecutorLine) => this.spansOf(each).reduce((total, { read, compute }) => total + read + compute, 0);
    const runs = new Map(line.executors.map((each) => [each, runOf(each)]));
    this.executors = order === "executor" ? line.executors : [...line.executors].sort((a, b) => runs.get(b)! - runs.get(a)!);
    this.drawAxis();
    this.rows.show(this.executors.length);
  }

  private spansOf(line: ExecutorLine): Span[] {
    const phase = this.value!.phase;
    return phase < 0 ? line.spans : line.spans.filter((span) => span.phase === phase);
  }

  private width(): number {
    return Math.max(80, this.axis.clientWidth - 14);
  }

  /** On paper, which has another width, pictures are stretched. */
  private sizes(height: number) {
    const width = this.width() + 14;
    return { width, height, viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" };
  }

  private drawAxis(): void {
    const width = this.width();
    const x = linear(this.range, [0, width], width / 90);
    const { line, phase } = this.value!;
    const phases = line.phases.filter((each) => phase < 0 || each.phase === line.phaseNames[phase]);
    const begin = Math.min(...line.phases.map((each) => each.begin));
    this.axis.replaceChildren(svg("svg", { ...this.sizes(36), "aria-hidden": "true" },
      // Until the first phase the group is started.
      phase < 0 && begin > 0 && Number.isFinite(begin) ? this.bandOf("start", x.at(0), x.at(begin)) : "",
      ...phases.map((each) => this.bandOf(each.phase, x.at(each.begin), x.at(each.end))),
      ...x.ticks.map((tick) => svg("text", { class: "tick", x: x.at(tick), y: 31, "text-anchor": x.at(tick) < 10 ? "start" : "middle" }, `${x.label(tick)} s`))));
  }

  /** A phase above the ticks, with its name if there is room. */
  private bandOf(name: string, begin: number, end: number): SVGElement {
    const length = Math.max(1, end - begin - 1);
    return svg("svg", { x: begin, y: 0, width: length, height: 16 },
      svg("title", {}, short(name, 100)),
      svg("rect", { class: "band", width: length, height: 16 }),
      length > 24 ? svg("text", { class: "tick", x: 4, y: 12 }, short(name, 40)) : null);
  }

  /** One path for each kind: a row of 100 tasks has few elements. */
  private rowOf(line: ExecutorLine): HTMLTableRowElement {
    const width = this.width();
    const x = linear(this.range, [0, width]);
    const paths = { read: "", compute: "", wait: "" };
    const totals = { read: 0, compute: 0, wait: 0 };
    for (const span of this.spansOf(line)) {
      let begin = span.begin;
      for (const kind of kKinds) {
        const end = begin + span[kind];
        if (span[kind] > 0) paths[kind] += `M${x.at(begin).toFixed(1)} 3H${Math.max(x.at(end), x.at(begin) + 0.3).toFixed(1)}V17H${x.at(begin).toFixed(1)}Z`;
        totals[kind] += span[kind];
        begin = end;
      }
    }
    const label = `compute ${seconds(totals.compute)}, wait ${seconds(totals.wait)}, read ${seconds(totals.read)}, in ${plural(this.spansOf(line).length, "task")}`;
    return html(
      "tr", {},
      html("th", { scope: "row", title: line.host ? `executor ${line.executor} on ${line.host}` : null }, String(line.executor)),
      html("td", { title: label }, svg("svg", { ...this.sizes(kRow), role: "img", "aria-label": label },
        ...kKinds.map((kind) => svg("path", { class: `bar ${kind}`, d: paths[kind] })))),
    );
  }
}
