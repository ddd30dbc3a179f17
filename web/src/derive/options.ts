/** The options that trials of a search differ in, and where their values lie on an axis. */
import { extent } from "../charts/scale";
import { short } from "../dom";
import { brief, words } from "../format";
import type { OptionValue, Trial } from "../trials";

export interface Option {
  name: string;
  title: string;
  /** Of numbers: the ends of the values. */
  range: [number, number];
  isLog: boolean;
  isWhole: boolean;
  /** Of others: the values as texts. */
  categories: string[];
  /** Some trials do not have it: it depends on another. */
  isAbsentInSome: boolean;
}

const kTexts = new Intl.Collator("en", { numeric: true });
/** Values that span a power of ten and are dense at its lower end, as those that are uniform in the logarithm. */
function isLogarithmic(numbers: number[]): boolean {
  const sorted = [...numbers].sort((a, b) => a - b);
  const [least = 0, most = 0] = [sorted[0], sorted.at(-1)];
  const tenth = sorted[Math.round(0.1 * (sorted.length - 1))]!;
  return least > 0 && most >= 10 * least && tenth - least < 0.05 * (most - least);
}

export const optionText = (value: OptionValue | undefined) =>
  value === undefined ? "–" : typeof value === "number" ? brief(value) : short(String(value), 60);

const namesOf = (trials: Trial[]) => [...new Set(trials.flatMap(({ setting }) => Object.keys(setting)))];

const isSame = (name: string, trials: Trial[]) =>
  trials.every(({ setting }) => setting[name] === trials[0]!.setting[name]);

function optionOf(name: string, trials: Trial[]): Option {
  const values = trials.flatMap(({ setting }) => setting[name] ?? []);
  const numbers = values.filter((value) => typeof value === "number");
  const areNumbers = numbers.length === values.length;
  return {
    name,
    title: words(name),
    range: extent(numbers),
    isLog: areNumbers && isLogarithmic(numbers),
    isWhole: areNumbers && numbers.every(Number.isInteger),
    categories: areNumbers ? [] : [...new Set(values.map(String))].sort(kTexts.compare),
    isAbsentInSome: values.length < trials.length,
  };
}

/** In the order in which trials have them. Of a single trial all. */
export const searchedOptions = (trials: Trial[]) =>
  namesOf(trials)
    .filter((name) => trials.length < 2 || !isSame(name, trials))
    .map((name) => optionOf(name, trials));

/** "n trees 500, early stopping rounds 20": what all trials have. */
export const sharedText = (trials: Trial[]) =>
  trials.length < 2
    ? ""
    : settingText(
        trials[0]!,
        namesOf(trials).filter((name) => isSame(name, trials)),
      );

export const settingText = ({ setting }: Trial, names: string[]) =>
  names
    .filter((name) => setting[name] !== undefined)
    .map((name) => `${short(words(name))} ${optionText(setting[name])}`)
    .join(", ");

/** A number for each value: itself, or the place of its category. NaN: the trial does not have the option. */
export function placeOf({ name, categories }: Option, { setting }: Trial): number {
  const value = setting[name];
  return value === undefined ? NaN : categories.length ? categories.indexOf(String(value)) : Number(value);
}
