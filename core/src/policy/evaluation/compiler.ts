/** What the parts of the evaluator share: each turns a node of the tree into a function, once, and it runs for each request. */
import type { Expression } from "../language/ast.ts";
import { quote } from "../position.ts";
import { equals, isInRange } from "../values/compare.ts";
import { typeName } from "../values/describe.ts";
import { EvaluationError, EvmText, type Result, type Value } from "../values/values.ts";
import { maxDecisionSteps, maxSteps, type Scope, spend, Unusable } from "./scope.ts";

/** Total: whatever the scope holds, it returns a value or an error, and soon. */
export type Evaluator = (scope: Scope) => Result;

/** Told of every part that was evaluated, after its own parts. */
export type Recorder = (node: Expression, result: Result) => void;

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

/** The node as it is written, short enough for a message. */
export function quoteNode({ source }: Pick<Compiler, "source">, { start, end }: Expression): string {
  return quote(source.slice(start, end));
}

export function unusable(compiler: Compiler, node: Expression, { why }: Unusable): EvaluationError {
  return new EvaluationError(`${quoteNode(compiler, node)} ${why}`, node);
}

export function exhausted(node: Expression): EvaluationError {
  return new EvaluationError(
    `the expression takes more than ${maxSteps} steps, or all policies together more than ${maxDecisionSteps}`,
    node,
  );
}

/** For a result that is not of the type that its place needs: its own error if it is one. */
export function mismatch(compiler: Compiler, node: Expression, result: Result, needed: string): EvaluationError {
  if (result instanceof EvaluationError) return result;
  return new EvaluationError(`${quoteNode(compiler, node)} is ${typeName(result)}, not ${needed}`, node);
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
export function equalsWithin(
  scope: Scope,
  a: Value,
  b: Value,
  node: Expression,
): boolean | EvaluationError | undefined {
  const isNumberInText = typeof a === "bigint" ? typeof b === "string" : typeof b === "bigint" && typeof a === "string";
  const steps = isNumberInText ? stepsForNumber : stepsForText(Math.min(textLength(a), textLength(b)));
  return steps > 0 && !spend(scope, steps) ? exhausted(node) : equals(a, b);
}

export function incomparable(node: Expression, a: Value, b: Value, compiler: Compiler): EvaluationError {
  const pair = `${typeName(a)} with ${typeName(b)}`;
  return new EvaluationError(`${quoteNode(compiler, node)} compares ${pair}`, node);
}
