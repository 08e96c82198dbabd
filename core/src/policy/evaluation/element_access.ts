/** `L[i]`, `S[i]`, `M['key']` and slices. Past the end there is nothing: that is an error, and never the nearest element. */
import type { Expression } from "../language/ast.ts";
import { quote } from "../position.ts";
import { EvaluationError, EvmText, type PolicyMap, type Result, type Value } from "../values/values.ts";
import {
  type Compiler,
  type Evaluator,
  exhausted,
  mismatch,
  type NodeOf,
  quoteNode,
  stepsForText,
  toUsable,
  unusable,
} from "./compiler.ts";
import { type Scope, spend, Unusable } from "./scope.ts";

export function compileIndex(node: NodeOf<"index">, compiler: Compiler): Evaluator {
  const of = compiler.compile(node.of);
  const at = compiler.compile(node.at);
  return (scope) => {
    const holder = of(scope);
    const key = at(scope);
    if (holder instanceof Map && typeof key === "string") return findEntry(scope, holder, key, node, compiler);
    if (holder instanceof EvaluationError) return holder;
    if (key instanceof EvaluationError) return key;
    if (!(holder instanceof Map)) return findItem(holder, key, node, compiler);
    if (key instanceof EvmText) return findEntry(scope, holder, key.text, node, compiler);
    return mismatch(compiler, node.at, key, "the name of an entry");
  };
}

function findEntry(scope: Scope, map: PolicyMap, name: string, node: NodeOf<"index">, compiler: Compiler): Result {
  // A key that only the request knows may be long, and is hashed and compared.
  const steps = stepsForText(name.length);
  if (steps > 0 && !spend(scope, steps)) return exhausted(node);
  const value = map.get(name);
  if (value === undefined) {
    return new EvaluationError(`${quoteNode(compiler, node.of)} has no entry ${quote(name)}`, node);
  }
  const usable = toUsable(value);
  return usable instanceof Unusable ? unusable(compiler, node, usable) : usable;
}

function findItem(holder: Value, key: Value, node: NodeOf<"index">, compiler: Compiler): Result {
  const length = lengthOf(holder);
  if (length === undefined) return mismatch(compiler, node.of, holder, "a list, a string or a map");
  if (typeof key !== "bigint") return mismatch(compiler, node.at, key, "an int");
  // Exact for every index that is not past the end, and no smaller than the length for the others.
  const index = Number(key);
  if (index < 0 || index >= length) return pastTheEnd(node, node.of, length, compiler);
  if (typeof holder === "string") return holder.charAt(index);
  if (holder instanceof EvmText) return new EvmText(holder.text.charAt(index), true);
  const usable = toUsable((holder as readonly Value[])[index]);
  return usable instanceof Unusable ? unusable(compiler, node, usable) : usable;
}

export function compileSlice(node: NodeOf<"slice">, compiler: Compiler): Evaluator {
  const of = compiler.compile(node.of);
  const from = compiler.compile(node.from);
  const to = compiler.compile(node.to);
  return (scope) => {
    const holder = of(scope);
    const first = from(scope);
    const last = to(scope);
    if (holder instanceof EvaluationError) return holder;
    const length = lengthOf(holder);
    if (length === undefined) return mismatch(compiler, node.of, holder, "a list or a string");
    if (typeof first !== "bigint") return mismatch(compiler, node.from, first, "an int");
    if (typeof last !== "bigint") return mismatch(compiler, node.to, last, "an int");
    if (first < 0n || last > length) return pastTheEnd(node, node.of, length, compiler);
    if (first > last) return new EvaluationError(`${quoteNode(compiler, node)} ends before it starts`, node);
    const [start, end] = [Number(first), Number(last)];
    const steps = Array.isArray(holder) ? end - start : stepsForText(end - start);
    if (!spend(scope, steps)) return exhausted(node);
    if (typeof holder === "string") return holder.slice(start, end);
    if (holder instanceof EvmText) return new EvmText(holder.text.slice(start, end), true);
    return (holder as readonly Value[]).slice(start, end);
  };
}

/** Characters are UTF-16 units. */
function lengthOf(value: Value): number | undefined {
  if (typeof value === "string") return value.length;
  if (value instanceof EvmText) return value.text.length;
  return Array.isArray(value) ? value.length : undefined;
}

function pastTheEnd(node: Expression, of: Expression, length: number, compiler: Compiler): EvaluationError {
  return new EvaluationError(
    `${quoteNode(compiler, node)} is past the end: ${quoteNode(compiler, of)} has ${length}`,
    node,
  );
}
