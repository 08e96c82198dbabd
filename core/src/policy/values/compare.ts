/** When two values are equal, and which one comes first. `undefined` means that the two do not compare. */
import { maxInteger } from "../expression_limits.ts";
import { EvmText, Instant, type Result, type Value } from "./values.ts";

/** Signed numbers are no smaller than those of 128 bits. */
const minInteger = -(2n ** 127n);

const integerForm = /^-?[0-9]{1,78}$/;

export function isInRange(value: bigint): boolean {
  return value <= maxInteger && value >= minInteger;
}

/** The number that a text says in decimal. Published policies quote numbers, and some decoders give them as text. */
export function integerIn(text: string): bigint | undefined {
  if (!integerForm.test(text)) return undefined;
  const value = BigInt(text);
  return isInRange(value) ? value : undefined;
}

const ascii = /^[\0-\x7f]*$/;

/**
 * As text of the EVM is compared. Beyond ASCII nothing is folded: letters of other alphabets fold into these (U+212A into
 * `k`), and two texts that look different would be one.
 */
export function foldCase(text: string): string {
  return ascii.test(text) ? text.toLowerCase() : text;
}

/** A literal with everything that comparing it may need, made ready once. */
export type PreparedText = { readonly text: string; readonly lower: string; readonly integer: bigint | undefined };

export function prepareText(text: string): PreparedText {
  return { text, lower: foldCase(text), integer: integerIn(text) };
}

export function equalsText(value: Result, literal: PreparedText): boolean | undefined {
  if (typeof value === "string") return value === literal.text;
  if (value instanceof EvmText) return value.text === literal.lower;
  return typeof value === "bigint" && literal.integer !== undefined ? value === literal.integer : undefined;
}

export function equals(a: Value, b: Value): boolean | undefined {
  switch (typeof a) {
    case "string":
      return equalsPlain(a, b);
    case "bigint":
      if (typeof b === "bigint") return a === b;
      return typeof b === "string" ? isSameInteger(a, integerIn(b)) : undefined;
    case "boolean":
      return typeof b === "boolean" ? a === b : undefined;
  }
  if (a instanceof EvmText) {
    if (b instanceof EvmText) return a.text === b.text;
    return typeof b === "string" ? equalsFolded(a, b) : undefined;
  }
  return a instanceof Instant && b instanceof Instant ? a.ms === b.ms : undefined;
}

function equalsPlain(a: string, b: Value): boolean | undefined {
  if (typeof b === "string") return a === b;
  if (b instanceof EvmText) return equalsFolded(b, a);
  return typeof b === "bigint" ? isSameInteger(b, integerIn(a)) : undefined;
}

/** Folding ASCII leaves the length, so texts of two lengths are never looked at: what is compared costs what the shorter one does. */
function equalsFolded({ text }: EvmText, other: string): boolean {
  return text.length === other.length && text === foldCase(other);
}

function isSameInteger(a: bigint, b: bigint | undefined): boolean | undefined {
  return b === undefined ? undefined : a === b;
}

/** Below zero if `a` comes first, above if `b` does. Numbers and moments have an order; texts only if they are numbers. */
export function order(a: Value, b: Value): number | undefined {
  if (typeof a === "bigint" && typeof b === "bigint") return a < b ? -1 : a > b ? 1 : 0;
  if (a instanceof Instant && b instanceof Instant) return a.ms - b.ms;
  const left = toInteger(a);
  const right = toInteger(b);
  if (left === undefined || right === undefined) return undefined;
  return left < right ? -1 : left > right ? 1 : 0;
}

function toInteger(value: Value): bigint | undefined {
  if (typeof value === "string") return integerIn(value);
  return typeof value === "bigint" ? value : undefined;
}
