/** One job in large: how far it is, and where its measures go. */
import { Spark } from "../charts/spark";
import { growing, isLoss, type Growing } from "../derive/measures";
import { html, named, short, write } from "../dom";
import { brief, clock, fixed, score, seconds, sentence } from "../format";
import { shareOf, titleOf, type Job } from "../live/session";
import { Keyed, type Part } from "../parts/keyed";
import type { Run } from "../report";

export interface ShownJob {
  job: Job;
  run: Run | undefined;
  /** When this was so, if nothing newer is known. */
  asOf: Date | undefined;
}

const kMostMeasures = 6;

/** "tree 150 of 500" */
function progressText({ state, progress }: Job): string {
  if (state === "failed" || state === "cancelled") return state;
  if (state === "done") return "done";
  const { phase, done, total, unit } = progress ?? {};
  const rounds =
    done === undefined
      ? ""
      : `${unit ? `${short(unit, 30)} ` : ""}${fixed(done, 0)}${total ? ` of ${fixed(total, 0)}` : ""}`;
  return [short(phase ?? "", 40), rounds].filter(Boolean).join(", ") || "begins";
}

function timeText({ state, seconds: took, seconds_left }: Job): string {
  const texts = [took === undefined ? "" : state === "running" ? `${seconds(took)} so far` : `took ${seconds(took)}`];
  if (state === "running")
    texts.push(seconds_left === undefined ? "time left not known yet" : `about ${seconds(seconds_left)} left`);
  return texts.filter(Boolean).join(" · ");
}

class MeasureTile implements Part<Growing> {
  private title = html("span", { class: "soft" });
  private figure = html("span", { class: "figure" });
  private best = html("span", { class: "soft" });
  private spark: Spark;
  element: HTMLElement;

  constructor(metric: string) {
    this.spark = new Spark(metric.startsWith("validation") ? 1 : 0);
    this.element = html("div", { class: "measure" }, this.title, this.figure, this.spark.element, this.best);
  }

  show({ metric, title, unit, values, first, last, rounds, best, bestAt }: Growing): void {
    write(this.title, sentence(short(title, 40)));
    write(this.figure, score(last));
    write(this.best, `${isLoss(metric) ? "lowest" : "highest"} ${score(best)} at ${short(unit, 20)} ${brief(bestAt)}`);
    this.spark.show(
      values,
      `${sentence(short(title, 60))} from ${score(first)} to ${score(last)} at ${short(unit, 20)} ${brief(rounds)}`,
    );
  }
}

export class JobCard implements Part<ShownJob> {
  private title = html("h3");
  private bar = html("span", { class: "done" });
  private track = html("div", { class: "progress", role: "progressbar", "aria-label": "Progress" }, this.bar);
  private share = html("span", { class: "share" });
  private what = html("span");
  private time = html("span", { class: "soft" });
  private asOf = html("span", { class: "soft" });
  private message = html("p", { class: "warning" });
  private measures = new Keyed<Growing>(
    html("div", { class: "measures" }),
    ({ metric }) => metric,
    ({ metric }) => new MeasureTile(metric),
  );
  private run: Run | undefined;
  element = html(
    "section",
    { class: "card job" },
    this.title,
    html("p", { class: "far" }, this.share, this.what, this.time, this.asOf),
    this.track,
    this.message,
    this.measures.element,
  );

  show({ job, run, asOf }: ShownJob): void {
    if (!this.title.hasChildNodes())
      this.title.append(html("span", { class: "soft" }, `Job ${job.job}`), named(titleOf(job)));
    const share = shareOf(job);
    this.track.hidden = share === undefined && job.state !== "running";
    this.track.classList.toggle("unknown", share === undefined);
    this.track.classList.toggle("failed", job.state === "failed" || job.state === "cancelled");
    const percent = Math.floor(100 * (share ?? 0));
    this.bar.style.width = `${share === undefined ? 0 : 100 * share}%`;
    if (share === undefined) this.track.removeAttribute("aria-valuenow");
    else this.track.setAttribute("aria-valuenow", String(percent));
    write(this.share, share === undefined || job.state === "done" ? "" : `${percent} %`);
    write(this.what, progressText(job));
    write(this.time, timeText(job));
    write(this.asOf, asOf && job.state === "running" ? `as of ${clock(asOf)}` : "");
    this.message.hidden = job.state !== "failed";
    write(this.message, short(job.message || "No cause is known.", 2000));
    if (run !== this.run) this.measures.show(growing(run).slice(0, kMostMeasures));
    this.run = run;
  }
}
