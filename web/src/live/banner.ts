/** Says above all views that the session does not answer, and what to do. */
import { html } from "../dom";
import { wholeSeconds } from "../format";
import { marked } from "../parts/controls";
import type { Connection, Live } from "./live";

const clock = (at: Date) => at.toLocaleTimeString("en-GB");
const kKeeps = "The page keeps what it has.";
/** So short a pause is not counted. */
const kShort = 2000;
/** Then it is no pause any more. */
const kLong = 60_000;

function text(connection: Connection, { session, answered }: Live): string {
  const name = session?.session;
  const keeps = answered ? ` ${kKeeps}` : "";
  switch (connection.kind) {
    case "silent": {
      const for_ms = Date.now() - connection.since.getTime();
      if (connection.isOther) return `What answers at this address is not Podere; trying again.${keeps}`;
      if (for_ms < kShort) return `No answer; trying again.${keeps}`;
      if (for_ms < kLong || !answered) return `No answer for ${wholeSeconds(for_ms / 1000)}; trying again.${keeps}`;
      return `No answer since ${clock(connection.since)}: ${name ? "the session" : "the command"} seems to have ended.${keeps}`;
    }
    case "ended":
      return `The ${name ? "session" : "command"} has ended at ${clock(connection.at)}. ${kKeeps}`;
    case "refused":
      return name || !session
        ? `The link of this page is not valid, or no longer: open it anew. \`podere session status ${name ?? "NAME"}\` prints it.${keeps}`
        : `The link of this page is not valid, or no longer. The command printed it when it started.${keeps}`;
    case "replaced":
      return `Another session answers now${connection.session ? `: ${connection.session}` : ""}.${keeps}`;
    case "newer":
      return `A newer Podere answers now, which this page cannot read.${keeps}`;
    default:
      return "";
  }
}

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
  private live: Live | undefined;
  private timer = 0;

  constructor(private askNow: () => void) {}

  follow(live: Live): void {
    this.live = live;
    const { kind } = live.connection;
    this.element.classList.toggle("calm", kind === "ended");
    this.again.hidden = kind !== "silent" && kind !== "refused";
    this.load.hidden = kind !== "replaced" && kind !== "newer";
    this.draw();
    clearInterval(this.timer);
    if (kind === "silent") this.timer = setInterval(() => this.draw(), 1000);
  }

  private shown = "";
  private draw(): void {
    const now = text(this.live!.connection, this.live!);
    this.element.hidden = !now;
    if (now === this.shown) return;
    this.shown = now;
    this.words.replaceChildren(...marked(now));
  }
}
