/** The part of the address behind #: the view, and the runs that are hidden by their numbers from 1: #quality&hidden=2,3 */
export interface Address {
  view: string;
  hidden: number[];
}

export function readAddress(hash: string): Address {
  const [view = "", ...more] = hash.replace(/^#/, "").split("&");
  const hidden =
    more
      .find((each) => each.startsWith("hidden="))
      ?.slice("hidden=".length)
      .split(",")
      .map(Number) ?? [];
  return { view, hidden: hidden.filter((each) => Number.isInteger(each) && each > 0) };
}

export const writeAddress = ({ view, hidden }: Address) =>
  `#${view}${hidden.length ? `&hidden=${hidden.join(",")}` : ""}`;
