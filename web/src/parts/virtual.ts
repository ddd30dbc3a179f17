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

  /** `make` makes a row for a place in the list; all rows are `height` pixels high. */
  constructor(
    label: string,
    private table: HTMLTableElement,
    private height: number,
    private make: (place: number) => HTMLTableRowElement,
  ) {
    this.body.append(this.above, this.below);
    table.append(this.body);
    this.scroller = html("div", { class: "virtual", tabindex: 0, role: "group", "aria-label": label }, table);
    this.scroller.addEventListener("scroll", () => this.ask(), { passive: true });
    new ResizeObserver(() => this.ask()).observe(this.scroller);
  }

  /** The rows are others now. */
  show(count: number): void {
    this.count = count;
    for (const row of this.drawn.values()) row.remove();
    this.drawn.clear();
    this.table.setAttribute("aria-rowcount", String(count + 1));
    this.draw();
  }

  private ask(): void {
    this.asked ||= requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    const first = Math.max(0, Math.min(this.count, Math.floor(this.scroller.scrollTop / this.height)) - kMargin);
    const last = Math.min(
      this.count,
      Math.ceil((this.scroller.scrollTop + this.scroller.clientHeight) / this.height) + kMargin,
    );
    for (const [place, row] of this.drawn) {
      if (place >= first && place < last) continue;
      row.remove();
      this.drawn.delete(place);
    }
    let next: Element = this.above.nextElementSibling!;
    for (let place = first; place < last; ++place) {
      let row = this.drawn.get(place);
      if (!row) {
        row = this.make(place);
        row.setAttribute("aria-rowindex", String(place + 2));
        this.drawn.set(place, row);
        this.body.insertBefore(row, next);
      }
      next = row.nextElementSibling!;
    }
    this.above.style.height = `${first * this.height}px`;
    this.below.style.height = `${(this.count - last) * this.height}px`;
    this.above.hidden = first === 0;
    this.below.hidden = last === this.count;
  }
}
