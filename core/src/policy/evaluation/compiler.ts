/** What the parts of the evaluator share: each turns a node of the tree into a function, once, and it runs for each request. */
import { expressionLimits } from "../expression_limits.ts";
import type { Expression, SourceRange } from "../language/ast.ts";
import { quote } from "../position.ts";
import { equals, isInRange } from "../values/compare.ts";
import { typeName } from "../values/describe.ts";
import { EvaluationError, EvmText, type Result, type Value } from "../values/values.ts";
import { maxDecisionSteps, maxSteps, type Scope, spend, Unusable } from "./scope.ts";

/** Total: whatever the scope holds, it returns a value or an error, and soon. */
export type Evaluator = (scope: Scope) => Result;

/** A name with its fields and indexes, as written, such as `eth.tx.contract_call_args['amount']`. */
export type Observation = { text: string; evaluate: Evaluator };

/**
 * Asked once for each part whether it is listened to, and by what: that is told every result of the part, after those of its own parts.
 */
export type Recorder = (node: Expression) => ((result: Result) => void) | undefined;

/**
 * Where a node stands in the source, in one number. What is compiled lives as long as its policy, and must not keep the tree that it was
 * compiled from: that is several times as large.
 */
export type Place = number & { readonly [isPlace]: true };
declare const isPlace: unique symbol;

/** More than any position in a source. */
const placeRadix = 2 * expressionLimits.bytes;

export function placeOf({ start, end }: SourceRange): Place {
  return (start * placeRadix + end) as Place;
}

export function rangeOf(place: Place): SourceRange {
  return { start: Math.floor(place / placeRadix), end: place % placeRadix };
}

/** A node of one kind. */
export type NodeOf<Kind extends Expression["kind"]> = Expression & { kind: Kind };

/** Names that stand for an element, and the place in `Scope.elements` where it is. */
export type Binders = ReadonlyMap<string, number>;

export type Compiler = {
  readonly source: string;
  readonly binders: Binders;
  /** With other binders for the inside of `all`, `any` and `filter`. */
  compile(node: Expression, binders?: Binders): Evaluator;
};

/** In UTF-16 units. Comparing longer ones would take longer than a step should. */
const maxTextLength = 65_536;

const missing = new Unusable("has no value");
const tooLong = new Unusable(`is longer than ${maxTextLength} characters`);
const outOfRange = new Unusable("is a number outside of what can be compared, -2^127 to 2^256 - 1");

/** What the facts hold, if it can be used. */
export function toUsable(value: Value | undefined): Value | Unusable {
  switch (typeof value) {
    case "string":
      return value.length > maxTextLength ? tooLong : value;
    case "bigint":
      return isInRange(value) ? value : outOfRange;
    case "boolean":
      return value;
    case "object":
      if (value === null) return missing;
      return value instanceof EvmText && value.text.length > maxTextLength ? tooLong : value;
    default:
      return missing;
  }
}

/** What stands there, short enough for a message. */
export function quotePlace(source: string, place: Place): string {
  const { start, end } = rangeOf(place);
  return quote(source.slice(start, end));
}

export function errorAt(place: Place, message: string): EvaluationError {
  return new EvaluationError(message, rangeOf(place));
}

export function unusable(source: string, place: Place, { why }: Unusable): EvaluationError {
  return errorAt(place, `${quotePlace(source, place)} ${why}`);
}

export function exhausted(place: Place): EvaluationError {
  const limits = `more than ${maxSteps} steps, or all policies together more than ${maxDecisionSteps}`;
  return errorAt(place, `the expression takes ${limits}`);
}

/** For a result that is not of the type that its place needs: its own error if it is one. */
export function mismatch(source: string, place: Place, result: Result, needed: string): EvaluationError {
  if (result instanceof EvaluationError) return result;
  return errorAt(place, `${quotePlace(source, place)} is ${typeName(result)}, not ${needed}`);
}

/** How long a text is, and 0 for everything else. */
export function textLength(value: Value): number {
  if (typeof value === "string") return value.length;
  return value instanceof EvmText ? value.text.length : 0;
}

/** What handling so many characters costs beyond the step of the node itself. */
export function stepsForText(length: number): number {
  return length >> 8;
}

/** What reading a number of up to 78 digits out of a text costs. */
export const stepsForNumber = 8;

/** Equality of two values of the request, which may both be long. */
export function equalsWithin(scope: Scope, a: Value, b: Value, place: Place): boolean | EvaluationError | undefined {
  const isNumberInText = typeof a === "bigint" ? typeof b === "string" : typeof b === "bigint" && typeof a === "string";
  const steps = isNumberInText ? stepsForNumber : stepsForText(Math.min(textLength(a), textLength(b)));
  return steps > 0 && !spend(scope, steps) ? exhausted(place) : equals(a, b);
}

export function incomparable(place: Place, a: Value, b: Value, source: string): EvaluationError {
  return errorAt(place, `${quotePlace(source, place)} compares ${typeName(a)} with ${typeName(b)}`);
}
