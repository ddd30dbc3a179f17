/** The page as one file with what it has: a report, which opens offline. */
import { encode } from "../encode";
import { save } from "../dom";
import type { Report } from "../report";
import { ask } from "./poll";

const place = (content: string) => `<script type="application/json" id="podere-report">${content}</` + "script>";

/** Not in one piece, so that these words are in the page once: the server replaces them where they are. */
const connections = (who: string) => `connect-src '${who}'`;

/** Exactly one place, or the text is not this page's. */
function replaced(text: string, from: string, to: string): string {
  const [before, after, ...more] = text.split(from);
  if (before === undefined || after === undefined || more.length) throw new Error("the page's text is another");
  return before + to + after;
}

export class Saver {
  private text: string | undefined;

  /** The page's own text is asked for at once: a report is wanted most once the session has ended. */
  async prepare(): Promise<void> {
    if (this.text !== undefined) return;
    const answer = await ask("./");
    if ("text" in answer && answer.text.includes(place('"live"'))) this.text = answer.text;
  }

  /** The name of the file; without one, the session has to be asked first and gives no answer. */
  async save(report: Report, name: string): Promise<boolean> {
    await this.prepare();
    if (this.text === undefined) return false;
    const offline = replaced(this.text, connections("self"), connections("none"));
    save(name, new Blob([replaced(offline, place('"live"'), place(encode(report)))], { type: "text/html" }));
    return true;
  }
}
