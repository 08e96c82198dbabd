/** `==`, `!=` and the four that need an order. What the rules are: compare.ts; here they meet the tree. */
import type { CompareOperator, Expression } from "../language/ast.ts";
import { equalsText, order, prepareText } from "../values/compare.ts";
import { EvaluationError } from "../values/values.ts";
import {
  type Compiler,
  type Evaluator,
  equalsWithin,
  exhausted,
  incomparable,
  type NodeOf,
  type Place,
  placeOf,
  stepsForNumber,
} from "./compiler.ts";
import { compileIn } from "./membership.ts";
import { spend } from "./scope.ts";

export function compileCompare(node: NodeOf<"compare">, compiler: Compiler): Evaluator {
  const { operator } = node;
  if (operator === "in") return compileIn(node, node.left, node.right, compiler);
  if (operator === "==" || operator === "!=") return compileEquality(node, operator === "==", compiler);
  return compileOrder(node, orders[operator], compiler);
}

/** A text that is written out is made ready once, whichever side it is on. */
function compileEquality(node: NodeOf<"compare">, wanted: boolean, compiler: Compiler): Evaluator {
  const { left, right } = node;
  const { source } = compiler;
  if (isText(right)) return compileTextEquality(placeOf(node), compiler.compile(left), right.value, wanted, source);
  if (isText(left)) return compileTextEquality(placeOf(node), compiler.compile(right), left.value, wanted, source);
  const place = placeOf(node);
  const [first, second] = [compiler.compile(left), compiler.compile(right)];
  return (scope) => {
    const a = first(scope);
    const b = second(scope);
    if (a instanceof EvaluationError) return a;
    if (b instanceof EvaluationError) return b;
    const isEqual = equalsWithin(scope, a, b, place);
    if (typeof isEqual === "boolean") return isEqual === wanted;
    return isEqual ?? incomparable(place, a, b, source);
  };
}

function compileTextEquality(
  place: Place,
  evaluate: Evaluator,
  text: string,
  wanted: boolean,
  source: string,
): Evaluator {
  const literal = prepareText(text);
  return (scope) => {
    const value = evaluate(scope);
    const isEqual = equalsText(value, literal);
    if (isEqual !== undefined) return isEqual === wanted;
    return value instanceof EvaluationError ? value : incomparable(place, value, text, source);
  };
}

function isText(node: Expression): node is NodeOf<"literal"> & { value: string } {
  return node.kind === "literal" && typeof node.value === "string";
}

type Order = {
  /** By far the most frequent case, and the quicker for its own function. */
  integers: (a: bigint, b: bigint) => boolean;
  holds: (order: number) => boolean;
};

const orders: Readonly<Record<Exclude<CompareOperator, "==" | "!=" | "in">, Order>> = {
  "<": { integers: (a, b) => a < b, holds: (order) => order < 0 },
  "<=": { integers: (a, b) => a <= b, holds: (order) => order <= 0 },
  ">": { integers: (a, b) => a > b, holds: (order) => order > 0 },
  ">=": { integers: (a, b) => a >= b, holds: (order) => order >= 0 },
};

function compileOrder(node: NodeOf<"compare">, { integers, holds }: Order, compiler: Compiler): Evaluator {
  const place = placeOf(node);
  const { source } = compiler;
  const [first, second] = [compiler.compile(node.left), compiler.compile(node.right)];
  return (scope) => {
    const a = first(scope);
    const b = second(scope);
    if (typeof a === "bigint" && typeof b === "bigint") return integers(a, b);
    if (a instanceof EvaluationError) return a;
    if (b instanceof EvaluationError) return b;
    const isRead = typeof a === "string" || typeof b === "string";
    if (isRead && !spend(scope, stepsForNumber)) return exhausted(place);
    const result = order(a, b);
    return result === undefined ? incomparable(place, a, b, source) : holds(result);
  };
}
