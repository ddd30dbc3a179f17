/** A view is one page of the report. It is made once, and shown newer or other runs then. */
import type { Shown } from "../derive/shown";
import { html, named } from "../dom";
import type { Live } from "../live/live";
import { plural } from "../format";
import { empty } from "../parts/controls";
import { spot } from "../parts/swatch";
import type { Study } from "../study";

export interface View {
  element: HTMLElement;
  show(shown: Shown): void;
  /** Of a view that shows the session itself. */
  follow?(live: Live): void;
  /** Of a view that shows studies of podere scale, whatever runs are selected. */
  compare?(studies: Study[]): void;
}

/**
 * What stands where runs have nothing to show: `text` says how to get it. Of a running job it says when `what` comes, such
 * as "Quality comes when it is done".
 */
export function missing({ runs, isLive }: Shown, isEmpty: boolean, what: string, text: string): (Node | string)[] {
  const running = isLive ? runs.filter(({ run }) => run.state === "running") : [];
  if (!running.length) return isEmpty ? [empty(text)] : [];
  const who = running.length === 1 ? named(running[0]!.run.name) : plural(running.length, "job");
  const message = empty(`${running.length === 1 ? " is" : " are"} running. ${what}.`);
  message.prepend(who);
  return [message];
}

/** Whatever is measured at the end of a job is so only on demand. */
export const kAtItsEnd = "when it is done, if it was started with `--report FILE`";

/** The title of a part about one run or model. */
export const heading = (title: string, series: number, more = "") =>
  html("h3", {}, spot(series), named(title), more ? html("span", { class: "soft" }, ` ${more}`) : null);

export const section = (title: string, ...children: (Node | string)[]) =>
  html("section", {}, html("h3", {}, title), ...children);
