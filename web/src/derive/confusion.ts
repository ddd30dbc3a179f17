/** What a confusion matrix says of each class. */
import { sum } from "./bins";

export interface OfClass {
  rows: number;
  /** Of the rows of this class, the share that was predicted as such: efficiency. */
  recall: number;
  /** Of the rows predicted as this class, the share that is: purity. */
  precision: number;
}

export function byClass(confusion: number[][]): OfClass[] {
  return confusion.map((row, k) => {
    const predicted = sum(confusion.map((each) => each[k] ?? 0));
    return { rows: sum(row), recall: (row[k] ?? 0) / sum(row), precision: (row[k] ?? 0) / predicted };
  });
}
