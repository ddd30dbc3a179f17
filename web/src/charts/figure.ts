/** What is around each chart: title, picture with its text alternative, key, "Save SVG", and its numbers as a table. */
import { fileName, html, save, short, svg, type Child } from "../dom";
import type { Part } from "../parts/keyed";

export interface Drawing<T> {
  /** The picture, as wide as there is room. */
  draw(value: T, width: number): SVGSVGElement;
  /** The picture in one sentence with its key figures. */
  describe(value: T): string;
  /** Explains marks and colors. */
  key?(value: T): Child[];
  table?(value: T): HTMLElement;
}

/** What is shown where the pointer is, and a line there, or another mark. */
export interface Pointed {
  x: number;
  text: string;
  mark?: SVGElement;
}

type PointedAt = (x: number, y: number) => Pointed | undefined;
const readouts = new WeakMap<SVGSVGElement, PointedAt>();

/** Has the figure of this picture show what lies at a place. */
export function pointable(picture: SVGSVGElement, at: PointedAt): SVGSVGElement {
  readouts.set(picture, at);
  return picture;
}

export class Figure<T> implements Part<T> {
  readonly element: HTMLElement;
  private plot: HTMLElement;
  private keys = html("div", { class: "key" });
  private readout = html("div", { class: "readout", "aria-hidden": "true" });
  private details = html("details", {}, html("summary", {}, "Show as table"));
  private value: T | undefined;
  private width = 0;

  constructor(
    private title: string,
    private drawing: Drawing<T>,
    controls: Child = null,
  ) {
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
          { type: "button", class: "small", onclick: () => this.save(), "aria-label": `Save SVG of ${short(title)}` },
          "Save SVG",
        ),
      ),
      controls,
      this.plot,
      this.readout,
      this.keys,
      drawing.table ? this.details : null,
    );
    this.details.addEventListener("toggle", () => this.tabulate());
    this.plot.addEventListener("pointermove", (event) => this.point(event));
    this.plot.addEventListener("pointerleave", () => this.unpoint());
    new ResizeObserver(() => this.draw()).observe(this.plot);
  }

  show(value: T): void {
    this.value = value;
    this.width = 0;
    this.plot.setAttribute("aria-label", `${this.title}. ${this.drawing.describe(value)}`);
    this.keys.replaceChildren(...(this.drawing.key?.(value) ?? []).map((each) => html("span", {}, each)));
    this.tabulate();
    this.draw();
  }

  private draw(): void {
    const width = Math.floor(this.plot.clientWidth);
    if (this.value === undefined || width < 50 || width === this.width) return;
    this.width = width;
    this.plot.replaceChildren(this.drawing.draw(this.value, width));
  }

  private tabulate(): void {
    if (this.value === undefined || !this.details.open) return;
    while (this.details.children.length > 1) this.details.lastElementChild!.remove();
    this.details.append(this.drawing.table!(this.value));
  }

  private point(event: PointerEvent): void {
    const picture = this.plot.querySelector<SVGSVGElement>("svg");
    const box = picture?.getBoundingClientRect();
    const pointed = picture && box && readouts.get(picture)?.(event.clientX - box.left, event.clientY - box.top);
    this.unpoint();
    if (!pointed) return;
    const { x, mark } = pointed;
    const line = mark ?? svg("line", { x1: x, x2: x, y1: 8, y2: picture.clientHeight - 40 });
    line.classList.add("pointer");
    picture.append(line);
    this.readout.textContent = pointed.text;
  }

  private unpoint(): void {
    this.plot.querySelector(".pointer")?.remove();
    this.readout.textContent = "";
  }

  private save(): void {
    const picture = this.plot.querySelector<SVGSVGElement>("svg");
    if (picture) save(fileName(this.title, "svg"), new Blob([standalone(picture)], { type: "image/svg+xml" }));
  }
}

const kKept = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-opacity",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "paint-order",
];

/** The picture with its styles, since it has left the page. */
function standalone(picture: SVGSVGElement): string {
  const copy = picture.cloneNode(true) as SVGSVGElement;
  const originals = [picture, ...picture.querySelectorAll("*")];
  [copy, ...copy.querySelectorAll("*")].forEach((element, i) => {
    const style = getComputedStyle(originals[i]!);
    for (const property of kKept) element.setAttribute(property, style.getPropertyValue(property));
    element.removeAttribute("class");
  });
  copy.prepend(svg("rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}
