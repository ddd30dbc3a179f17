/** One farm in large: its sentence, what it has and waits for, how it came to be so, and what if it wanted others. */
import { html, named, short, write } from "../dom";
import { fixed, when } from "../format";
import { marked } from "../parts/controls";
import { Keyed, type Part } from "../parts/keyed";
import { keyOf, type Condition, type Farm } from "./farms";
import { HistoryChart } from "./history";
import { WhatIf } from "./what_if";

const kUnseen = "The operator has not looked at it yet: does `podere operator` run?";

class ConditionItem implements Part<Condition> {
  private name = html("b");
  private message = html("bdi");
  private more = html("span", { class: "soft" });
  readonly element = html("li", {}, this.name, this.message, this.more);

  show({ type, holds, reason, message, since }: Condition): void {
    write(this.name, `${holds ? "✓" : "✗"} ${short(type, 60)}: ${holds ? "yes" : "no"}`);
    // Who borrows may well wait for more.
    this.name.classList.toggle("alarm", !holds && type !== "Ready");
    write(this.message, short(message ?? "", 2000));
    const facts = [reason && short(reason, 100), since && `since ${when(since)}`];
    write(this.more, facts.filter(Boolean).join(", "));
  }
}

const kFacts: [title: string, text: (farm: Farm) => string][] = [
  ["guaranteed", ({ guaranteed }) => fixed(guaranteed, 0)],
  ["wanted", ({ wanted }) => (wanted === undefined ? "as its program asks" : fixed(wanted, 0))],
  ["maximum", ({ maximum }) => (maximum === undefined ? "none" : fixed(maximum, 0))],
  ["ready", ({ status }) => fixed(status?.ready, 0)],
  ["priority", ({ priority = 0 }) => fixed(priority, 0)],
  ["weight", ({ weight = 1 }) => fixed(weight, Number.isInteger(weight) ? 0 : 2)],
  ["gang", ({ gang }) => (gang ? "yes" : "no")],
  ["pods", ({ makes_pods }) => `made by ${makes_pods === false ? "another program" : "the operator"}`],
];

export class FarmCard implements Part<Farm> {
  private title = html("h3");
  private key = "";
  private sentence = html("p", { class: "sentence", dir: "auto" });
  private unseen = html("p", { class: "empty" }, ...marked(kUnseen));
  private asOf = html("p", { class: "soft" });
  private conditions = new Keyed<Condition>(
    html("ul", { class: "conditions", "aria-label": "Conditions" }),
    ({ type }) => type,
    () => new ConditionItem(),
  );
  private facts = kFacts.map(() => html("dd"));
  private history = new HistoryChart();
  private whatIf = new WhatIf();
  readonly element = html(
    "section",
    { class: "card farm", "aria-label": "The chosen farm" },
    this.title,
    this.sentence,
    this.unseen,
    this.asOf,
    this.conditions.element,
    html("dl", {}, ...kFacts.map(([title], i) => html("div", {}, html("dt", {}, title), this.facts[i]))),
    this.history.element,
    this.whatIf.element,
  );

  show(farm: Farm): void {
    const { status } = farm;
    if (this.key !== keyOf(farm)) this.title.replaceChildren(named((this.key = keyOf(farm))));
    this.unseen.hidden = status !== undefined;
    this.sentence.hidden = this.asOf.hidden = !status;
    write(this.sentence, short(status?.message ?? "", 5000));
    write(this.asOf, status?.as_of ? `as of ${when(status.as_of)}` : "");
    this.conditions.element.hidden = !status?.conditions.length;
    this.conditions.show(status?.conditions ?? []);
    kFacts.forEach(([, text], i) => write(this.facts[i]!, text(farm)));
    this.history.show(farm);
    this.whatIf.show(farm);
  }

  /** On a narrow screen it lies below the table. */
  reveal(): void {
    const { top } = this.title.getBoundingClientRect();
    if (top < 0 || top > 0.6 * innerHeight) this.title.scrollIntoView({ block: "start" });
  }
}
