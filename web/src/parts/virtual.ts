/** A list of any length, of which only the rows in view are in the page. */
import { html } from "../dom";

/** More than are in view, so that scrolling by a few rows shows no gap. */
const kMargin = 8;

export class VirtualRows {
  readonly scroller: HTMLElement;
  private above = html("tr", { class: "spacer", "aria-hidden": "true" }, html("td"));
  private below = html("tr", { class: "spacer", "aria-hidden": "true" }, html("td"));
  private body = html("tbody");
  private drawn = new Map<number, HTMLTableRowElement>();
  private count = 0;
  private asked = 0;

  /** `make` makes a row for a place in the list, or gives the one that it made for this before; all are `height` pixels high. */
  constructor(
    label: string,
    private table: HTMLTableElement,
    private height: number,
    private make: (place: number) => HTMLTableRowElement,
  ) {
    this.body.append(this.above, this.below);
    table.append(this.body);
    table.tHead!.rows[0]!.setAttribute("aria-rowindex", "1");
    this.scroller = html("div", { class: "virtual", tabindex: 0, role: "group", "aria-label": label }, table);
    this.scroller.addEventListener("scroll", () => this.ask(), { passive: true });
    new ResizeObserver(() => this.ask()).observe(this.scroller);
  }

  /** The rows are others now. Those that `make` made before and gives again stay in the page. */
  show(count: number): void {
    this.count = count;
    this.table.setAttribute("aria-rowcount", String(count + 1));
    this.draw(new Map());
  }

  /** Has the row of a place in view. */
  reveal(place: number): void {
    const { scrollTop, clientHeight } = this.scroller;
    const head = this.table.tHead!.offsetHeight;
    const [top, bottom] = [place * this.height, (place + 1) * this.height + head];
    if (top < scrollTop) this.scroller.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.scroller.scrollTop = bottom - clientHeight;
    this.draw();
  }

  private ask(): void {
    this.asked ||= requestAnimationFrame(() => this.draw());
  }

  /** Rows of `known` are right as they are. */
  private draw(known = this.drawn): void {
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    const { scrollTop, clientHeight } = this.scroller;
    // A list that is shorter now has not scrolled yet.
    const lastFirst = this.count - Math.ceil(clientHeight / this.height);
    const first = Math.max(0, Math.min(lastFirst, Math.floor(scrollTop / this.height)) - kMargin);
    const last = Math.min(this.count, Math.ceil((scrollTop + clientHeight) / this.height) + kMargin);
    const old = this.drawn;
    this.drawn = new Map();
    for (let place = first; place < last; ++place) this.drawn.set(place, known.get(place) ?? this.make(place));
    const kept = new Set(this.drawn.values());
    for (const row of old.values()) if (!kept.has(row)) row.remove();
    let next: Element = this.above.nextElementSibling!;
    for (const [place, row] of this.drawn) {
      row.setAttribute("aria-rowindex", String(place + 2));
      if (row === next) next = row.nextElementSibling!;
      else this.body.insertBefore(row, next);
    }
    this.above.style.height = `${first * this.height}px`;
    this.below.style.height = `${(this.count - last) * this.height}px`;
    this.above.hidden = first === 0;
    this.below.hidden = last === this.count;
  }
}
