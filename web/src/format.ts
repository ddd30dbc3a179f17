/** Numbers as people read them. */

const kNone = "–";
const plain = (decimals: number) =>
  new Intl.NumberFormat("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
const byDecimals = Array.from({ length: 10 }, (_, decimals) => plain(decimals));

type Maybe = number | null | undefined;
export const isNumber = (value: Maybe): value is number => typeof value === "number" && Number.isFinite(value);

/** With `decimals` digits behind the point. */
export function fixed(value: Maybe, decimals: number): string {
  return isNumber(value) ? byDecimals[decimals]!.format(value).replace("-", "−") : kNone;
}

/** Whole ones as they are, sums of weights with some decimals. */
export const count = (value: Maybe) =>
  isNumber(value) && !Number.isInteger(value) && Math.abs(value) < 1e6 ? significant(value, 5) : fixed(value, 0);

/** With `digits` digits that matter, such as 0.0123, 12.3, 12,300 or 1.23e−7. */
export function significant(value: Maybe, digits = 4): string {
  if (!isNumber(value)) return kNone;
  if (value === 0) return "0";
  const power = Math.floor(Math.log10(Math.abs(value)));
  if (power < -4 || power > 8)
    return value
      .toExponential(digits - 1)
      .replace(/\.?0+e/, "e")
      .replace("e+", "e")
      .replaceAll("-", "−");
  return fixed(value, Math.min(9, Math.max(0, digits - 1 - power)));
}

/** In sentences: whole numbers as they are. */
export const brief = (value: Maybe, digits = 4) =>
  Number.isInteger(value) ? fixed(value, 0) : significant(value, digits);

/** Measures between 0 and 1, and losses. */
export const score = (value: Maybe) =>
  isNumber(value) && Math.abs(value) >= 100 ? significant(value) : fixed(value, 4);

export const percent = (share: Maybe, decimals = 1) => (isNumber(share) ? `${fixed(100 * share, decimals)} %` : kNone);

export function seconds(value: Maybe): string {
  if (!isNumber(value)) return kNone;
  if (value === 0) return "0 s";
  if (value < 0.000995) return `${significant(1e6 * value, 2)} µs`;
  if (value < 0.0995) return `${significant(1000 * value, 2)} ms`;
  if (value < 9.995) return `${fixed(value, 2)} s`;
  if (value < 59.95) return `${fixed(value, 1)} s`;
  const whole = Math.round(value);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  const minutes = Math.round(value / 60);
  return `${fixed(Math.floor(minutes / 60), 0)} h ${minutes % 60} min`;
}

/** Where tenths would flicker. */
export const wholeSeconds = (value: number) => (value < 59.5 ? `${fixed(Math.floor(value), 0)} s` : seconds(value));

export function bytes(value: Maybe): string {
  if (!isNumber(value)) return kNone;
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let power = 0;
  for (let size = Math.abs(value); size >= 999.5 && power + 1 < units.length; size /= 1000) ++power;
  return `${power ? significant(value / 1000 ** power, 3) : fixed(value, 0)} ${units[power]}`;
}

/** 2026-11-27 18:45 UTC */
export const moment = (began: string | undefined) =>
  began && /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(began) ? `${began.slice(0, 10)} ${began.slice(11, 16)} UTC` : kNone;

/** Of the reader's day: 18:45:03 */
export const clock = (at: Date) => at.toLocaleTimeString("en-GB");

/** A moment of the reader's day, or of another one: 18:45:03 or 2026-11-27 18:45 */
export function when(moment: string): string {
  const at = new Date(moment);
  if (Number.isNaN(at.getTime())) return kNone;
  return at.toDateString() === new Date().toDateString()
    ? clock(at)
    : `${at.toLocaleDateString("sv-SE")} ${clock(at).slice(0, 5)}`;
}

/** "1 executor", "2 executors" */
export const plural = (n: number, word: string, many = `${word}s`) => `${fixed(n, 0)} ${n === 1 ? word : many}`;

/** validation_log_loss: "validation log loss", and AUC as it is usually written. */
export const words = (key: string) =>
  key
    .replaceAll("_", " ")
    .replace(/\bauc\b/g, "AUC")
    .replace(/\bcpu\b/g, "CPU");
export const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
