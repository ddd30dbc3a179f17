/** Small controls. Each calls `changed` with its new value. */
import { html } from "../dom";

/** Buttons of which one is pressed. */
export function choice<T extends string>(
  label: string,
  options: Record<T, string>,
  chosen: T,
  changed: (value: T) => void,
) {
  const buttons = (Object.entries(options) as [T, string][]).map(([value, text]) => {
    const button = html("button", { type: "button", "aria-pressed": String(value === chosen) }, text);
    button.addEventListener("click", () => {
      for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
      changed(value);
    });
    return button;
  });
  return html("div", { class: "choice", role: "group", "aria-label": label }, ...buttons);
}

export function toggle(label: string, chosen: boolean, changed: (value: boolean) => void) {
  const box = html("input", { type: "checkbox", checked: chosen });
  box.addEventListener("change", () => changed(box.checked));
  return html("label", { class: "toggle" }, box, label);
}

export function search(label: string, changed: (text: string) => void) {
  const box = html("input", {
    type: "search",
    placeholder: label,
    "aria-label": label,
    autocomplete: "off",
    spellcheck: "false",
  });
  box.addEventListener("input", () => changed(box.value.trim().toLowerCase()));
  return box;
}

/** A number above zero; anything else is marked as wrong, and the last good value stays. */
export function positiveNumber(label: string, value: number, changed: (value: number) => void) {
  const box = html("input", { type: "text", inputmode: "decimal", value: String(value), size: 8 });
  const problem = html("span", { class: "problem", role: "status" });
  box.addEventListener("input", () => {
    const typed = Number(box.value);
    const isGood = box.value.trim() !== "" && Number.isFinite(typed) && typed > 0;
    box.setAttribute("aria-invalid", String(!isGood));
    problem.textContent = isGood ? "" : "a number above 0";
    if (isGood) changed(typed);
  });
  return html("label", { class: "field" }, label, box, problem);
}

/** A list to choose from whose options change. */
export class Select {
  private box = html("select");
  readonly element: HTMLElement;

  constructor(label: string, changed: (value: string) => void) {
    this.element = html("label", { class: "field" }, label, this.box);
    this.box.addEventListener("change", () => changed(this.box.value));
  }

  /** Keeps what is chosen if it is still there. */
  offer(options: [value: string, text: string][], chosen: string): string {
    this.box.replaceChildren(...options.map(([value, text]) => html("option", { value }, text)));
    this.box.value = options.some(([value]) => value === chosen) ? chosen : (options[0]?.[0] ?? "");
    this.element.hidden = options.length < 2;
    return this.box.value;
  }
}

export const toolbar = (...children: (Node | string)[]) => html("div", { class: "toolbar" }, ...children);

/** An empty state: what is not there, and what to do. Parts in `back quotes` are commands. */
export function empty(text: string): HTMLElement {
  return html("p", { class: "empty" }, ...marked(text));
}

export const note = (text: string) => html("p", { class: "note" }, ...marked(text));

/** Texts, and commands in `back quotes`. Short ones stay on one line. */
export const marked = (text: string) =>
  text.split("`").map((part, i) => (i % 2 ? html("code", { class: part.length < 24 ? "whole" : null }, part) : part));
