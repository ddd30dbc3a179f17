/** Asks the operator what would happen if a farm wanted another number of executors. */
import { record, text } from "../decode";
import { html, short } from "../dom";
import { ask } from "../live/poll";
import { toolbar } from "../parts/controls";
import type { Part } from "../parts/keyed";
import { keyOf, pathOf, type Farm } from "./farms";

/** The operator may take 20 s. */
const kPatience = 25_000;

const answerOf = record<{ text: string }>({ text }, ["text"]);
const refusalOf = record<{ error: string }>({ error: text }, ["error"]);

function read<T>(json: string | undefined, decode: (value: unknown, path: string, damage: string[]) => T | undefined) {
  try {
    return decode(JSON.parse(json ?? ""), "", []);
  } catch {
    return undefined;
  }
}

const problem = (text: string) => html("p", { class: "warning" }, short(text, 2000));

async function answer(farm: Farm, executors: number): Promise<HTMLElement> {
  const got = await ask(`api/what-if?farm=${pathOf(farm)}&executors=${executors}`, kPatience);
  if ("text" in got) {
    const found = read(got.text, answerOf);
    return found ? html("pre", { dir: "auto" }, found.text) : problem("What answered is not Podere.");
  }
  if (got.failure === "refused") return problem("The link of this page is not valid, or no longer.");
  return problem(read(got.body, refusalOf)?.error ?? "No answer came. Try again.");
}

export class WhatIf implements Part<Farm> {
  private box = html("input", { type: "text", inputmode: "numeric", size: 6, autocomplete: "off" });
  private button = html("button", { type: "submit" }, "What if?");
  private words = html("div", { role: "status" });
  readonly element = html(
    "form",
    { class: "whatif", onsubmit: (event: Event) => (event.preventDefault(), void this.ask()) },
    html("h4", {}, "If it wanted other executors"),
    toolbar(html("label", { class: "field" }, "Executors", this.box), this.button),
    this.words,
  );
  private farm: Farm | undefined;
  private asked: Farm | undefined;
  /** The last answer, and the farm that it is about. */
  private last: { key: string; words: HTMLElement } | undefined;

  show(farm: Farm): void {
    const isOther = !this.farm || keyOf(this.farm) !== keyOf(farm);
    this.farm = farm;
    if (!isOther) return;
    const more = (farm.wanted ?? farm.status?.running ?? 0) + 1;
    this.box.value = String(Math.min(more, farm.maximum ?? Infinity));
    this.draw();
  }

  private async ask(): Promise<void> {
    if (this.asked || !this.farm) return;
    const typed = this.box.value.trim();
    const key = keyOf(this.farm);
    const isGood = /^\d{1,9}$/.test(typed);
    this.box.setAttribute("aria-invalid", String(!isGood));
    if (isGood) {
      this.asked = this.farm;
      this.draw();
    }
    this.last = { key, words: isGood ? await answer(this.farm, Number(typed)) : problem("A whole number, 0 or more.") };
    this.asked = undefined;
    this.draw();
  }

  private draw(): void {
    this.button.setAttribute("aria-disabled", String(this.asked !== undefined));
    const { asked, last } = this;
    if (asked) this.words.replaceChildren(html("p", { class: "soft" }, `Asking the operator about ${keyOf(asked)}…`));
    else this.words.replaceChildren(...(last && this.farm && last.key === keyOf(this.farm) ? [last.words] : []));
  }
}
