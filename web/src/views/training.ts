/** How loss and quality changed over the rounds, and where executors were lost. */
import { CurveChart, type CurveLine, type CurveMark, type Curves } from "../charts/curves";
import { lossesOf, lossMarks } from "../derive/losses";
import { isLoss } from "../derive/measures";
import { inRounds } from "../derive/rounds";
import type { Shown, ShownRun } from "../derive/shown";
import { html, short } from "../dom";
import { brief, seconds, sentence, significant, words } from "../format";
import { choice, note, toggle, toolbar } from "../parts/controls";
import { Keyed } from "../parts/keyed";
import type { Dash } from "../parts/swatch";
import type { Curve } from "../report";
import { missing, type View } from "./view";

type Over = "rounds" | "seconds";

const base = (metric: string) => metric.replace(/^(validation|training)_/, "");
const dash = (metric: string): Dash => (metric.startsWith("validation_") ? "dashed" : "solid");

interface Chart {
  metric: string;
  curves: Curves;
}

function lastAndBest(line: CurveLine, metric: string): string {
  const last = line.y.findLast(Number.isFinite);
  if (last === undefined) return `${line.title}: no values`;
  let best = -1;
  line.y.forEach((value, i) => {
    if (Number.isFinite(value) && (best < 0 || (isLoss(metric) ? value < line.y[best]! : value > line.y[best]!)))
      best = i;
  });
  return `${line.title}: ${significant(last)} at the end, ${isLoss(metric) ? "lowest" : "highest"} ${significant(line.y[best])} at ${brief(line.x[best])}`;
}

function chartsOf(runs: ShownRun[], over: Over, isLog: boolean): Chart[] {
  const lines = new Map<string, CurveLine[]>();
  const marks = new Map<string, CurveMark[]>();
  const units = new Set<string>();
  for (const { run, series } of runs) {
    run.curves.forEach((each: Curve) => {
      const curve = inRounds(each);
      const isOne = run.curves.length === 1;
      units.add(curve.unit);
      for (const [metric, y] of Object.entries(curve.metrics)) {
        const title = `${run.name}${isOne ? "" : ` (${curve.phase})`}: ${words(metric)}`;
        const times = over === "rounds" ? { x: curve.done, y } : { x: [0, ...curve.seconds], y: [NaN, ...y] };
        const line = { title, series, dash: dash(metric), ...times };
        lines.set(base(metric), [...(lines.get(base(metric)) ?? []), line]);
      }
      for (const { loss, done, seconds: at } of lossMarks(run, curve)) {
        const x = over === "rounds" ? done : at;
        const mark = { x, series, text: `lost ${loss.executor ?? "an executor"}` };
        // On the charts that this run is on.
        if (Number.isFinite(x))
          for (const metric of new Set(Object.keys(curve.metrics).map(base)))
            marks.set(metric, [...(marks.get(metric) ?? []), mark]);
      }
    });
  }
  const unit = short([...units].join(" or "), 40) || "round";
  return [...lines].map(([metric, of]) => ({
    metric,
    curves: {
      lines: of,
      marks: marks.get(metric) ?? [],
      isLog,
      xLabel: over === "rounds" ? unit : "seconds since the run began",
      description: `Over ${over === "rounds" ? unit : "seconds"}. ${of
        .slice(0, 6)
        .map((line) => lastAndBest(line, metric))
        .join("; ")}.`,
    },
  }));
}

/** What was lost, in words: marks on charts are seen by some readers only. */
function lossesText(runs: ShownRun[]): HTMLElement | string {
  const losses = runs.flatMap(({ run }) => (run.curves.length ? lossesOf(run).map((loss) => ({ run, loss })) : []));
  if (!losses.length) return "";
  return html(
    "ul",
    { class: "plain" },
    ...losses.map(({ run, loss }) =>
      html(
        "li",
        {},
        html("bdi", {}, short(run.name, 60)),
        ": lost ",
        html("bdi", {}, short(loss.executor ?? "an executor", 60)),
        loss.how ? ` (${short(loss.how, 100)})` : "",
        loss.at ? ` at ${short(loss.at, 60)}` : "",
        loss.executors_left === undefined ? "" : `; ${loss.executors_left} left`,
        loss.seconds_lost === undefined ? "" : `; cost ${seconds(loss.seconds_lost)}`,
      ),
    ),
  );
}

export function training(): View {
  let over: Over = "rounds";
  let isLog = false;
  let shown: Shown | undefined;
  const charts = new Keyed<Chart>(
    html("div", { class: "grid wide" }),
    ({ metric }) => metric,
    ({ metric }) => {
      const chart = new CurveChart(sentence(words(metric)));
      return { element: chart.element, show: ({ curves }) => chart.show(curves) };
    },
  );
  const message = html("div");
  const losses = html("div");
  const controls = toolbar(
    choice<Over>(
      "horizontal axis",
      { rounds: "Rounds", seconds: "Seconds" },
      over,
      (value) => ((over = value), draw()),
    ),
    toggle("log scale", isLog, (value) => ((isLog = value), draw())),
  );
  const hint = note(
    "Solid: training rows. Dashed: validation rows. Drag over a chart to zoom; double-click shows all. A validation curve that turns up " +
      "while training still falls is overfitting: stop there (`--early-stopping`).",
  );
  function draw() {
    if (!shown) return;
    const all = chartsOf(shown.runs, over, isLog);
    charts.show(all);
    controls.hidden = hint.hidden = all.length === 0;
    message.replaceChildren(
      ...(all.length
        ? []
        : missing(
            shown,
            true,
            "If it trains, curves begin with its first round",
            "No curves: none of these runs trained. `podere train gbt DATA --validation-fraction 0.2 --report out.html` shows how loss and AUC grow.",
          )),
    );
    losses.replaceChildren(lossesText(shown.runs));
  }
  return {
    element: html("div", {}, controls, message, charts.element, losses, hint),
    show(now) {
      shown = now;
      draw();
    },
  };
}
