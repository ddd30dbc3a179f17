/** Scales map values to pixels, and know where ticks are. */
import { clock, significant } from "../format";

export interface Scale {
  at(value: number): number;
  value(at: number): number;
  ticks: number[];
  label(tick: number): string;
}

/** 1, 2 or 5 times a power of ten, so that there are about `wanted` steps. */
function stepOf(range: number, wanted: number): number {
  const raw = range / wanted;
  const power = 10 ** Math.floor(Math.log10(raw));
  return ([1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) ?? 10) * power;
}

/** As many digits as the ticks need to differ. */
export function labelOf(step: number, largest: number) {
  if (largest >= 1e6 || step < 1e-6) return (tick: number) => significant(tick, 3);
  let decimals = 0;
  while (decimals < 9 && Math.abs(step * 10 ** decimals - Math.round(step * 10 ** decimals)) > 1e-6) ++decimals;
  const format = new Intl.NumberFormat("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return (tick: number) => format.format(tick).replace("-", "−");
}

export function linear([low, high]: [number, number], [from, to]: [number, number], wanted = 6): Scale {
  const range = high > low ? high - low : 1;
  const step = stepOf(range, wanted);
  const first = Math.ceil(low / step - 1e-9);
  const ticks = Array.from(
    { length: Math.max(0, Math.floor((low + range) / step + 1e-9) - first + 1) },
    (_, i) => (first + i) * step,
  );
  return {
    at: (value) => from + ((value - low) / range) * (to - from),
    value: (at) => low + ((at - from) / (to - from)) * range,
    ticks,
    label: labelOf(step, Math.max(Math.abs(low), Math.abs(high))),
  };
}

const kMinute = 60;
const kHour = 60 * kMinute;
const kDay = 24 * kHour;
/** Between ticks that are even moments of a day. */
const kClockSteps = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * kMinute),
  ...[1, 2, 3, 6, 12].map((n) => n * kHour),
  ...[1, 2, 7, 14].map((n) => n * kDay),
];

/** Seconds since 1970, as the reader's time of day. */
export function clockScale([low, high]: [number, number], ends: [number, number], wanted = 6): Scale {
  const step = kClockSteps.find((each) => each >= (high - low) / wanted) ?? 30 * kDay;
  const zone = new Date(1000 * low).getTimezoneOffset() * kMinute;
  const first = Math.ceil((low - zone) / step);
  const count = Math.max(0, Math.floor((high - zone) / step) - first + 1);
  return {
    ...linear([low, high], ends),
    ticks: Array.from({ length: count }, (_, i) => (first + i) * step + zone),
    label: (tick) => {
      const at = new Date(1000 * tick);
      if (step >= kDay) return at.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
      return clock(at).slice(0, step < kMinute ? 8 : 5);
    },
  };
}

/** Values of 0 and below lie at the lower end. */
export function logarithmic([low, high]: [number, number], [from, to]: [number, number], wanted = 6): Scale {
  const [first, last] = [Math.log10(low), Math.log10(high > low ? high : 10 * low)];
  const every = Math.max(1, Math.ceil((last - first) / wanted));
  const powers = Array.from({ length: Math.ceil(last) - Math.floor(first) + 1 }, (_, i) => Math.floor(first) + i);
  // Where there are few powers of ten, twice and five times as much, too.
  const factors = last - first < 2 ? [1, 2, 5] : [1];
  const isInside = (tick: number) => tick >= low * (1 - 1e-9) && tick <= 10 ** last * (1 + 1e-9);
  return {
    at: (value) => from + ((Math.log10(Math.max(value, low)) - first) / (last - first)) * (to - from),
    value: (at) => 10 ** (first + ((at - from) / (to - from)) * (last - first)),
    ticks: powers
      .filter((power) => power % every === 0)
      .flatMap((power) => factors.map((factor) => factor * 10 ** power))
      .filter(isInside),
    label: (tick) =>
      tick >= 0.001 && tick <= 1e5 ? significant(tick, 1) : tick.toExponential(0).replace("e+", "e").replace("-", "−"),
  };
}

/** Of finite values, widened to something that can be drawn. */
export function extent(values: Iterable<number>): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return [0, 1];
  return low === high ? [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2] : [low, high];
}
