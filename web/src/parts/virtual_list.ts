/** A list of any length whose items lie at fixed places, of which only those in view are in the page. */
import { html } from "../dom";

/** More than are in view, so that scrolling by a few items shows no gap. */
const kMargin = 4;

export class VirtualList {
  readonly scroller: HTMLElement;
  private list: HTMLElement;
  private drawn = new Map<number, HTMLElement>();
  private count = 0;
  private asked = 0;

  /** `fill` makes what an item shows; all are `height` pixels high. The head stays on top. */
  constructor(
    label: string,
    head: HTMLElement,
    private height: number,
    private fill: (place: number) => { label: string; content: Node[] },
  ) {
    this.list = html("div", { class: "list", role: "list", "aria-label": label });
    this.scroller = html("div", { class: "virtual", tabindex: 0, role: "group", "aria-label": label }, head, this.list);
    this.scroller.addEventListener("scroll", () => this.ask(), { passive: true });
    new ResizeObserver(() => this.ask()).observe(this.scroller);
  }

  /** The items are others now. */
  show(count: number): void {
    this.count = count;
    this.drawn.clear();
    this.list.replaceChildren();
    this.list.style.height = `${count * this.height}px`;
    this.draw();
  }

  private ask(): void {
    this.asked ||= requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    cancelAnimationFrame(this.asked);
    this.asked = 0;
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, Math.floor(scrollTop / this.height) - kMargin);
    const last = Math.min(this.count, Math.ceil((scrollTop + clientHeight) / this.height) + kMargin);
    const free: HTMLElement[] = [];
    for (const [place, item] of this.drawn) {
      if (place >= first && place < last) continue;
      free.push(item);
      this.drawn.delete(place);
    }
    for (let place = first; place < last; ++place) {
      if (this.drawn.has(place)) continue;
      const reused = free.pop();
      const item = reused ?? html("div", { class: "item", role: "listitem" });
      const { label, content } = this.fill(place);
      item.style.top = `${place * this.height}px`;
      item.title = label;
      item.setAttribute("aria-posinset", String(place + 1));
      item.setAttribute("aria-setsize", String(this.count));
      item.replaceChildren(...content);
      this.drawn.set(place, item);
      if (!reused) this.list.append(item);
    }
    for (const item of free) item.remove();
  }
}
