/** How good the models are: ROC, calibration, and for each model its scores, cuts and confusion matrix. */
import { Figure } from "../charts/figure";
import { linesDrawing, type Lines } from "../charts/lines";
import { hasTwoClasses } from "../derive/bins";
import { calibrationOf } from "../derive/calibration";
import { changes, type ModelGroup, type Shown, type ShownMeasured } from "../derive/shown";
import { html } from "../dom";
import { fixed, isNumber, score } from "../format";
import { choice, note, toolbar } from "../parts/controls";
import { Keyed } from "../parts/keyed";
import { dashOf } from "../parts/swatch";
import { ModelQuality } from "./model_quality";
import { kAtItsEnd, missing, type View } from "./view";

type RocForm = "roc" | "log" | "rejection";

interface Named extends ShownMeasured {
  full: string;
}

const allOf = (models: ModelGroup[]): Named[] =>
  models.flatMap((group) =>
    group.measured.map((each) => ({ ...each, full: models.length > 1 ? `${group.title}: ${each.title}` : each.title })),
  );

function rocOf(measured: Named[], form: RocForm): Lines {
  const lines = measured
    .filter(({ measured: { roc } }) => roc.length)
    .map(({ measured: { roc, auc, rows }, full, series }) => ({
      title: full,
      figure: isNumber(auc) ? `AUC ${score(auc)}` : "",
      series,
      dash: dashOf(rows),
      points: roc.map(([, wrong = NaN, right = NaN]) =>
        form === "rejection" ? { x: right, y: 1 / wrong } : { x: wrong, y: right },
      ),
    }));
  if (form === "rejection") return { lines, x: [0, 1], isLogY: true };
  const end = { x: 1, y: 1 };
  return form === "roc"
    ? { lines, x: [0, 1], y: [0, 1], reference: [{ x: 0, y: 0 }, end] }
    : { lines, x: [1e-4, 1], y: [0, 1], isLogX: true };
}

const kAxes: Record<RocForm, [string, string]> = {
  roc: ["false positive rate", "true positive rate"],
  log: ["false positive rate", "true positive rate"],
  rejection: ["signal efficiency (true positive rate)", "background rejection (1 / false positive rate)"],
};

const rocText = ({ lines }: Lines) =>
  `${lines.map(({ title, figure }) => `${title}: ${figure || "AUC is not defined"}`).join("; ")}.`;

function calibrationLines(measured: Named[]): Lines {
  const lines = measured
    .filter(({ measured: { scores } }) => scores && hasTwoClasses(scores.weights))
    .map(({ measured: { scores, rows }, full, series }) => {
      const { bins, error } = calibrationOf(scores!);
      return {
        title: full,
        figure: `error ${fixed(error, 4)}`,
        series,
        dash: dashOf(rows),
        hasMarks: true,
        points: bins.map(({ predicted, observed, error: bar }) => ({ x: predicted, y: observed, error: bar })),
      };
    });
  return {
    lines,
    x: [0, 1],
    y: [0, 1],
    reference: [
      { x: 0, y: 0 },
      { x: 1, y: 1 },
    ],
  };
}

export function quality(): View {
  let form: RocForm = "roc";
  let shown: Shown | undefined;
  const isOther = changes();
  const roc = new Figure<Lines>(
    "ROC",
    linesDrawing({ xLabel: () => kAxes[form][0], yLabel: () => kAxes[form][1], isSquare: true, describe: rocText }),
    toolbar(
      choice<RocForm>(
        "axes of the ROC",
        { roc: "ROC", log: "Log scale", rejection: "Rejection" },
        form,
        (value) => ((form = value), drawRoc()),
      ),
    ),
  );
  const calibration = new Figure<Lines>(
    "Calibration",
    linesDrawing({
      xLabel: () => "predicted probability",
      yLabel: () => "observed share",
      isSquare: true,
      describe: ({ lines }) =>
        `Mean distance between predicted and observed: ${lines.map(({ title, figure }) => `${title}: ${figure}`).join("; ")}.`,
    }),
  );
  const rocBlock = html(
    "div",
    {},
    roc.element,
    note(
      "Dotted: training rows. Dashed: validation rows. Solid: test rows. The nearer to the corner at the top left, the better; the diagonal is a guess.",
    ),
  );
  const calibrationBlock = html(
    "div",
    {},
    calibration.element,
    note(
      "On the diagonal, a predicted probability of 0.8 comes true in 80 % of rows. Below it, the model is too sure of class 1.",
    ),
  );
  const message = html("div");
  const together = html("div", { class: "grid together" }, rocBlock, calibrationBlock);
  const models = new Keyed<ModelGroup>(
    html("div"),
    ({ key }) => key,
    () => new ModelQuality(),
  );

  function drawRoc() {
    if (!shown) return;
    const lines = rocOf(allOf(shown.models), form);
    rocBlock.hidden = !lines.lines.length;
    if (lines.lines.length) roc.show(lines);
  }
  return {
    element: html("div", {}, message, together, models.element),
    show(now) {
      shown = now;
      const measured = now.models.filter((group) => group.measured.length);
      message.replaceChildren(
        ...missing(
          now,
          !measured.length,
          `Quality comes ${kAtItsEnd}`,
          "Nothing measured yet: `podere evaluate MODEL DATA --report test.html`, then `podere report FILES -o out.html` to see all together.",
        ),
      );
      if (!isOther(measured)) return;
      drawRoc();
      const calibrated = calibrationLines(allOf(now.models));
      calibrationBlock.hidden = !calibrated.lines.length;
      if (calibrated.lines.length) calibration.show(calibrated);
      models.show(measured);
    },
  };
}
