/** `x in L` and `L.contains(x)`: whether some element equals x. All are compared, so that one that does not compare shows. */
import type { Expression } from "../language/ast.ts";
import { foldCase, integerIn } from "../values/compare.ts";
import { EvaluationError, EvmText, type Result, type Value } from "../values/values.ts";
import {
  type Compiler,
  type Evaluator,
  equalsWithin,
  exhausted,
  incomparable,
  mismatch,
  type Place,
  placeOf,
  toUsable,
  unusable,
} from "./compiler.ts";
import { type Scope, spend, Unusable } from "./scope.ts";

/** In the order of the text: `of` first for `contains`, last for `in`. */
export function compileIn(node: Expression, item: Expression, of: Expression, compiler: Compiler): Evaluator {
  const { source } = compiler;
  const texts = textsIn(of);
  if (texts !== undefined) return compileInTexts(placeOf(node), compiler.compile(item), texts, source);
  const isFirst = item.start < of.start;
  const evaluateFirst = compiler.compile(isFirst ? item : of);
  const evaluateSecond = compiler.compile(isFirst ? of : item);
  const [place, placeOfList] = [placeOf(node), placeOf(of)];
  return (scope) => {
    const a = evaluateFirst(scope);
    const b = evaluateSecond(scope);
    if (a instanceof EvaluationError) return a;
    if (b instanceof EvaluationError) return b;
    const [value, list] = isFirst ? [a, b] : [b, a];
    if (!Array.isArray(list)) return mismatch(source, placeOfList, list, "a list");
    return isAmong(scope, value, list, place, placeOfList, source);
  };
}

function isAmong(
  scope: Scope,
  value: Value,
  list: readonly Value[],
  place: Place,
  placeOfList: Place,
  source: string,
): Result {
  if (!spend(scope, list.length)) return exhausted(place);
  // A text beside numbers is read once, not once for each of them.
  const number = typeof value === "string" ? integerIn(value) : undefined;
  let found = false;
  for (let i = 0; i < list.length; i += 1) {
    const item = toUsable(list[i]);
    if (item instanceof Unusable) return unusable(source, placeOfList, new Unusable(`[${i}] ${item.why}`));
    const sought = number !== undefined && typeof item === "bigint" ? number : value;
    const isEqual = equalsWithin(scope, sought, item, place) ?? incomparable(place, value, item, source);
    if (isEqual instanceof EvaluationError) return isEqual;
    found ||= isEqual;
  }
  return found;
}

/** Allow-lists are long and always the same, so what is written out is hashed once for the three ways it may be compared. */
type Texts = {
  count: number;
  /** No longer text is among them; hashing one would take its time. */
  maxLength: number;
  exact: ReadonlySet<string>;
  lower: ReadonlySet<string>;
  /** Undefined if one of them is not a number. */
  integers: ReadonlySet<bigint> | undefined;
  /** For the message. */
  example: string;
};

function textsIn(node: Expression): Texts | undefined {
  if (node.kind !== "list" || node.items.length === 0) return undefined;
  const texts: string[] = [];
  for (const item of node.items) {
    if (item.kind !== "literal" || typeof item.value !== "string") return undefined;
    texts.push(item.value);
  }
  const integers = texts.map(integerIn);
  return {
    count: texts.length,
    maxLength: Math.max(...texts.map(({ length }) => length)),
    exact: new Set(texts),
    lower: new Set(texts.map(foldCase)),
    integers: integers.includes(undefined) ? undefined : new Set(integers.filter((integer) => integer !== undefined)),
    example: texts[0] ?? "",
  };
}

function compileInTexts(place: Place, evaluate: Evaluator, texts: Texts, source: string): Evaluator {
  const { count, maxLength, exact, lower, integers, example } = texts;
  return (scope) => {
    const value = evaluate(scope);
    if (!spend(scope, count)) return exhausted(place);
    if (typeof value === "string") return value.length <= maxLength && exact.has(value);
    if (value instanceof EvmText) return value.text.length <= maxLength && lower.has(value.text);
    if (typeof value === "bigint" && integers !== undefined) return integers.has(value);
    return value instanceof EvaluationError ? value : incomparable(place, value, example, source);
  };
}
