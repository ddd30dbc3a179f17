/** The axis of an option: linear, logarithmic, or of categories. */
import type { Option } from "../derive/options";
import { short } from "../dom";
import { linear, logarithmic, type Scale } from "./scale";

const kAbsentRoom = 34;

/** Of places. Those of trials without the option, NaN, lie behind its end. */
export function optionAxis(
  option: Omit<Option, "name" | "title">,
  [from, to]: [number, number],
  wanted: number,
  absent = "none",
): Scale {
  const { categories, range, isLog, isWhole, isAbsentInSome } = option;
  const end = isAbsentInSome ? to - kAbsentRoom : to;
  const scale = categories.length
    ? {
        ...linear([-0.5, categories.length - 0.5], [from, end]),
        ticks: [...categories.keys()],
        label: (tick: number) =>
          short(categories[tick]!, Math.max(3, Math.floor((end - from) / categories.length / 6.2))),
      }
    : isLog
      ? logarithmic(range, [from, end], Math.max(4, wanted))
      : linear(range, [from, end], isWhole ? Math.min(wanted, range[1] - range[0]) : wanted);
  if (!isAbsentInSome) return scale;
  return {
    ...scale,
    at: (place) => (Number.isNaN(place) ? to - 8 : scale.at(place)),
    ticks: [...scale.ticks, NaN],
    label: (tick) => (Number.isNaN(tick) ? absent : scale.label(tick)),
  };
}
