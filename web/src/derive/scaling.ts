/** What charts of a study show: lines of points with as many cores each, and stacks of phases. */
import type { Line, Lines } from "../charts/lines";
import type { Stacks } from "../charts/stacks";
import { plural } from "../format";
import { isWeak, totalCores, type Study, type StudyPoint } from "../study";

const kSeries = [0, 1, 2, 3, 4, 5, 6];
const seriesOf = (i: number) => kSeries[i % kSeries.length]!;

export type Measure = "seconds" | "speed_up" | "efficiency";

/** Speed-up goes up and efficiency in percent: what they would be had the point taken so long. */
function valueOf(measure: Measure, point: StudyPoint, taken = point.seconds): number {
  if (measure === "seconds") return taken;
  const value = (point[measure] ?? NaN) * (point.seconds / taken);
  return measure === "efficiency" ? 100 * value : value;
}

const pointOf = (measure: Measure) => (point: StudyPoint) => {
  const { least_seconds: least, most_seconds: most, modeled } = point;
  const range: [number, number] | undefined =
    !modeled && least !== undefined && most !== undefined && most > least
      ? [valueOf(measure, point, least), valueOf(measure, point, most)]
      : undefined;
  return { x: totalCores(point), y: valueOf(measure, point), ...(range ? { range } : {}) };
};

export const measuredOf = ({ points }: Study) => points.filter(({ modeled }) => !modeled);

/** A line of what was measured for each number of cores of an executor, and a dotted one of what is modeled. */
function linesOf(study: Study, measure: Measure): Line[] {
  const all = [...new Set(study.points.map(({ cores }) => cores))].sort((a, b) => a - b);
  return all.flatMap((cores, i) => {
    const points = study.points.filter((point) => point.cores === cores);
    const measured = points.filter(({ modeled }) => !modeled);
    const modeled = points.filter((point) => point.modeled);
    const title = `${plural(cores, "core")} each`;
    const line = (of: StudyPoint[], more: Partial<Line>): Line => ({
      title,
      series: seriesOf(i),
      dash: "solid",
      hasMarks: true,
      points: of.map(pointOf(measure)),
      ...more,
    });
    return [
      ...(measured.length ? [line(measured, {})] : []),
      ...(modeled.length ? [line(modeled, { title: `${title}, modeled`, dash: "dotted", isHollow: true })] : []),
    ];
  });
}

/** Of the first point, were all cores as good as its own. */
function idealLine(study: Study, measure: Measure): Line {
  const base = study.points[0]!;
  const most = Math.max(...study.points.map(totalCores));
  const first = totalCores(base);
  const steps = Array.from({ length: 33 }, (_, i) => first * (most / first) ** (i / 32));
  const ideal = (cores: number) =>
    measure === "efficiency" ? 100 : measure === "speed_up" ? cores / first : isWeak(study) ? base.seconds : (base.seconds * first) / cores;
  return { title: "ideal", series: 6, dash: "dashed", points: steps.map((x) => ({ x, y: ideal(x) })) };
}

export function scalingLines(study: Study, measure: Measure): Lines {
  const lines = [...linesOf(study, measure), idealLine(study, measure)];
  const highest = lines.flatMap(({ points }) => points.flatMap(({ y, range }) => [y, ...(range ?? [])]));
  const most = Math.max(...highest.filter(Number.isFinite), measure === "efficiency" ? 100 : 0);
  return {
    lines,
    x: [0, Math.max(2, ...study.points.map(totalCores))],
    y: [0, 1.05 * most],
    isWholeX: true,
  };
}

/** The phases of what was measured, and the rest between them. */
export function phaseStacks(study: Study): Stacks {
  const measured = measuredOf(study).filter(({ phases }) => phases.length);
  const names = [...new Set(measured.flatMap(({ phases }) => phases.map(({ phase }) => phase)))];
  const stacks = measured.map((point) => {
    const parts = names.map((name) => point.phases.find(({ phase }) => phase === name)?.seconds ?? 0);
    const rest = point.seconds - parts.reduce((sum, each) => sum + each, 0);
    return { title: `${point.executors} × ${point.cores}`, seconds: [...parts, Math.max(0, rest)] };
  });
  return { parts: [...names, "other"].map((title, i) => ({ title, series: seriesOf(i) })), stacks };
}
