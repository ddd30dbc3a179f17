/** Says above all views that the process behind the page does not answer, and what to do. */
import { html } from "../dom";
import { marked } from "../parts/controls";
import { bannerText, type Served } from "./connection";

export class Banner {
  private words = html("p");
  private again = html("button", { type: "button", onclick: () => this.askNow() }, "Try now");
  private load = html("button", { type: "button", onclick: () => location.reload() }, "Load it");
  readonly element = html(
    "section",
    { class: "banner", "aria-label": "State", hidden: true },
    this.words,
    this.again,
    this.load,
  );
  private served: Served | undefined;
  private timer = 0;

  constructor(private askNow: () => void) {}

  follow(served: Served): void {
    this.served = served;
    const { kind } = served.connection;
    this.element.classList.toggle("calm", kind === "ended");
    this.again.hidden = kind !== "silent" && kind !== "refused";
    this.load.hidden = kind !== "replaced" && kind !== "newer";
    this.draw();
    clearInterval(this.timer);
    if (kind === "silent") this.timer = setInterval(() => this.draw(), 1000);
  }

  private shown = "";
  private draw(): void {
    const now = bannerText(this.served!);
    this.element.hidden = !now;
    if (now === this.shown) return;
    this.shown = now;
    this.words.replaceChildren(...marked(now));
  }
}
