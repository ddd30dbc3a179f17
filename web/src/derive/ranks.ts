/** The places of values among the finite ones, from 0 to 1; equal values have the same place. NaN stays NaN. */
export function ranks(values: number[]): number[] {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const first = new Map<number, [first: number, last: number]>();
  sorted.forEach((value, i) => first.set(value, [first.get(value)?.[0] ?? i, i]));
  const last = Math.max(1, sorted.length - 1);
  return values.map((value) => {
    const found = first.get(value);
    return found ? (found[0] + found[1]) / 2 / last : NaN;
  });
}
