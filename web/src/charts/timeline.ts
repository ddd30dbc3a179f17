/** A time line: a bar of read, compute and wait for each executor. Thousands of executors scroll. */
import { html, short, svg } from "../dom";
import { plural, seconds } from "../format";
import type { Part } from "../parts/keyed";
import { VirtualList } from "../parts/virtual_list";
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
  private axis = html("div", { class: "times" });
  private rows: VirtualList;
  private executors: ExecutorLine[] = [];
  private range: [number, number] = [0, 1];
  private value: ShownTimeLine | undefined;

  constructor(label: string) {
    const head = html("div", { class: "head" }, html("span", { class: "who" }, "executor"), this.axis);
    this.rows = new VirtualList(label, head, kRow, (place) => this.itemOf(this.executors[place]!));
    this.element = this.rows.scroller;
    this.element.classList.add("timeline");
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
    this.range =
      phase < 0
        ? [0, line.end]
        : [
            spans.reduce((least, { begin }) => Math.min(least, begin), Infinity),
            spans.reduce((most, span) => Math.max(most, span.begin + lengthOf(span)), 0),
          ];
    const runOf = (each: ExecutorLine) =>
      this.spansOf(each).reduce((total, { read, compute }) => total + read + compute, 0);
    const runs = new Map(line.executors.map((each) => [each, runOf(each)]));
    this.executors =
      order === "executor" ? line.executors : [...line.executors].sort((a, b) => runs.get(b)! - runs.get(a)!);
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
    this.axis.replaceChildren(
      svg(
        "svg",
        { ...this.sizes(36), "aria-hidden": "true" },
        // Until the first phase the group is started.
        phase < 0 && begin > 0 && Number.isFinite(begin) ? this.bandOf("start", x.at(0), x.at(begin)) : "",
        ...phases.map((each) => this.bandOf(each.phase, x.at(each.begin), x.at(each.end))),
        ...x.ticks.map((tick) =>
          svg(
            "text",
            { class: "tick", x: x.at(tick), y: 31, "text-anchor": x.at(tick) < 10 ? "start" : "middle" },
            `${x.label(tick)} s`,
          ),
        ),
      ),
    );
  }

  /** A phase above the ticks, with its name if there is room. */
  private bandOf(name: string, begin: number, end: number): SVGElement {
    const length = Math.max(1, end - begin - 1);
    return svg(
      "svg",
      { x: begin, y: 0, width: length, height: 16 },
      svg("title", {}, short(name, 100)),
      svg("rect", { class: "band", width: length, height: 16 }),
      length > 24 ? svg("text", { class: "tick", x: 4, y: 12 }, short(name, 40)) : null,
    );
  }

  /** One path for each kind: a row of 100 tasks has few elements. */
  private itemOf(line: ExecutorLine): { label: string; content: Node[] } {
    const x = linear(this.range, [0, this.width()]);
    const spans = this.spansOf(line);
    const paths = { read: "", compute: "", wait: "" };
    const totals = { read: 0, compute: 0, wait: 0 };
    for (const span of spans) {
      let begin = span.begin;
      for (const kind of kKinds) {
        const [from, to] = [x.at(begin), x.at(begin + span[kind])];
        const length = Math.max(0.3, to - from).toFixed(1);
        if (span[kind] > 0) paths[kind] += `M${from.toFixed(1)} 3h${length}v14h-${length}z`;
        totals[kind] += span[kind];
        begin += span[kind];
      }
    }
    const host = line.host ? ` on ${short(line.host, 60)}` : "";
    const label = `executor ${line.executor}${host}: compute ${seconds(totals.compute)}, wait ${seconds(totals.wait)}, read ${seconds(totals.read)}, in ${plural(spans.length, "task")}`;
    const bars = kKinds
      .filter((kind) => paths[kind])
      .map((kind) => svg("path", { class: `bar ${kind}`, d: paths[kind] }));
    return {
      label,
      content: [
        html("span", { class: "who" }, String(line.executor)),
        svg("svg", { ...this.sizes(kRow), role: "img", "aria-label": label }, ...bars),
      ],
    };
  }
}
