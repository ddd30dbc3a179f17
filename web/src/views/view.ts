/** A view is one page of the report. It is made once, and shown newer or other runs then. */
import type { Shown } from "../derive/shown";
import { html, named } from "../dom";
import { spot } from "../parts/swatch";

export interface View {
  element: HTMLElement;
  show(shown: Shown): void;
}

/** The title of a part about one run or model. */
export const heading = (title: string, series: number, more = "") =>
  html("h3", {}, spot(series), named(title), more ? html("span", { class: "soft" }, ` ${more}`) : null);

export const section = (title: string, ...children: (Node | string)[]) =>
  html("section", {}, html("h3", {}, title), ...children);
