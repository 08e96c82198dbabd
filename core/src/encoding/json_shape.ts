/**
 * Parsed JSON into a known shape, for files that people write by hand: an unknown key, a missing one or a wrong type is
 * refused with the way to it, such as `cases[3].activity.type`, because a key that is silently passed over is a rule that
 * its author believes in and nobody applies.
 */
import { Fault } from "../fault.ts";

/** Reads one value; `path` is the way to it, empty for the whole document. */
export type Shape<T> = (value: unknown, path: string) => T;

/** A key that may be left out. */
export type OptionalShape<T> = { optional: Shape<T> };

type Fields = Readonly<Record<string, Shape<unknown> | OptionalShape<unknown>>>;

type Shaped<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Shape<unknown> ? K : never]: F[K] extends Shape<infer T> ? T : never;
} & {
  readonly [K in keyof F as F[K] extends Shape<unknown> ? never : K]?: F[K] extends OptionalShape<infer T> ? T : never;
};

/** The refusal of a value, with the way to it. */
export function misshapen(path: string, why: string): Fault {
  return new Fault("invalid_argument", `${path === "" ? "the document" : path}: ${why}`);
}

export const text: Shape<string> = (value, path) => {
  if (typeof value !== "string") throw misshapen(path, `${nameOf(value)} where text belongs`);
  return value;
};

export const flag: Shape<boolean> = (value, path) => {
  if (typeof value !== "boolean") throw misshapen(path, `${nameOf(value)} where true or false belongs`);
  return value;
};

/** One of the words. */
export function wordOf<T extends string>(words: readonly T[]): Shape<T> {
  return (value, path) => {
    const word = words.find((known) => known === value);
    if (word !== undefined) return word;
    const found = typeof value === "string" ? `\`${value}\`` : nameOf(value);
    throw misshapen(path, `${found} where one of ${words.join(", ")} belongs`);
  };
}

export function listOf<T>(item: Shape<T>): Shape<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw misshapen(path, `${nameOf(value)} where a list belongs`);
    return value.map((entry, i) => item(entry, `${path}[${i}]`));
  };
}

/** An object whose keys are the author's. */
export function mapOf<T>(item: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value, path) =>
    Object.fromEntries(Object.entries(objectAt(value, path)).map(([key, entry]) => [key, item(entry, at(path, key))]));
}

/** An object with these keys and no others. */
export function record<F extends Fields>(fields: F): Shape<Shaped<F>> {
  const known = Object.entries(fields);
  return (value, path) => {
    const object = objectAt(value, path);
    for (const key of Object.keys(object)) {
      if (Object.hasOwn(fields, key)) continue;
      throw misshapen(
        at(path, key),
        `unknown key; ${path === "" ? "here" : path} can have ${Object.keys(fields).join(", ")}`,
      );
    }
    const entries = known.flatMap(([key, field]) => {
      const shape = typeof field === "function" ? field : field.optional;
      if (Object.hasOwn(object, key)) return [[key, shape(object[key], at(path, key))]];
      if (shape === field) throw misshapen(at(path, key), "missing");
      return [];
    });
    return Object.fromEntries(entries) as Shaped<F>;
  };
}

export function optional<T>(shape: Shape<T>): OptionalShape<T> {
  return { optional: shape };
}

/** The value as an object, whatever it holds. */
export function objectAt(value: unknown, path: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw misshapen(path, `${nameOf(value)} where an object belongs`);
  }
  return value as Record<string, unknown>;
}

function at(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  if (typeof value === "string") return "text";
  return typeof value === "boolean" ? `${value}` : `a ${typeof value}`;
}
