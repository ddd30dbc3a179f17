/** Decoders turn unknown JSON into typed values. What is damaged is left out and noted, and the rest stays. */

/** What was left out: paths such as runs[1].curves. */
export type Damage = string[];

/** `undefined` if there is no value: absent, null or damaged. */
export type Decode<T> = (value: unknown, path: string, damage: Damage) => T | undefined;

function primitive<T>(is: (value: unknown) => value is T): Decode<T> {
  return (value, path, damage) => {
    if (value === null || value === undefined) return undefined;
    if (is(value)) return value;
    damage.push(path);
    return undefined;
  };
}

export const text = primitive((value): value is string => typeof value === "string");
export const number = primitive((value): value is number => typeof value === "number");
export const flag = primitive((value): value is boolean => typeof value === "boolean");

/** Names of classes may be numbers. */
export const name: Decode<string> = (value, path, damage) =>
  typeof value === "number" ? String(value) : text(value, path, damage);

export function oneOf<T extends string>(...allowed: T[]): Decode<T> {
  return primitive((value): value is T => allowed.includes(value as T));
}

/** A list without its damaged entries; an absent one is empty. */
export function list<T>(entry: Decode<T>): Decode<T[]> {
  return (value, path, damage) => {
    if (value === null || value === undefined) return [];
    if (!Array.isArray(value)) {
      damage.push(path);
      return [];
    }
    return value.map((each, i) => entry(each, `${path}[${i}]`, damage)).filter((each) => each !== undefined) as T[];
  };
}

/** Numbers by position; NaN stands for null. */
export const numbers: Decode<number[]> = (value, path, damage) => {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value) || !value.every((each) => each === null || typeof each === "number")) {
    damage.push(path);
    return [];
  }
  return value.map((each) => each ?? NaN);
};

/** An object of which `fields` are read; without one of the `required` there is none. */
export function record<T extends object>(
  fields: { [K in keyof T]-?: Decode<NonNullable<T[K]>> },
  required: (keyof T)[] = [],
): Decode<T> {
  const decoders = Object.entries(fields) as [keyof T & string, Decode<unknown>][];
  return (value, path, damage) => {
    if (value === null || value === undefined) return undefined;
    if (typeof value !== "object" || Array.isArray(value)) {
      damage.push(path);
      return undefined;
    }
    const result: Partial<T> = {};
    for (const [key, decode] of decoders) {
      const decoded = decode((value as Record<string, unknown>)[key], `${path}.${key}`, damage);
      if (decoded !== undefined) result[key] = decoded as NonNullable<T[typeof key]>;
    }
    if (required.every((key) => result[key] !== undefined)) return result as T;
    damage.push(path);
    return undefined;
  };
}

/** An object whose keys are data. */
export function dictionary<T>(entry: Decode<T>): Decode<Record<string, T>> {
  return (value, path, damage) => {
    if (value === null || value === undefined) return {};
    if (typeof value !== "object" || Array.isArray(value)) {
      damage.push(path);
      return {};
    }
    const decoded: Record<string, T> = Object.create(null);
    for (const [key, each] of Object.entries(value)) {
      const one = entry(each, `${path}.${key}`, damage);
      if (one !== undefined) decoded[key] = one;
    }
    return decoded;
  };
}

/** Passes on what holds `rule`. */
export function checked<T>(decode: Decode<T>, rule: (value: T) => boolean): Decode<T> {
  return (value, path, damage) => {
    const decoded = decode(value, path, damage);
    if (decoded === undefined || rule(decoded)) return decoded;
    damage.push(path);
    return undefined;
  };
}
