/** Where values come from: literals, names and their fields. */

import type { ConditionFacts } from "../facts/facts.ts";
import type { Expression } from "../language/ast.ts";
import { isInCronSpan } from "../time/cron_span.ts";
import { isInRange } from "../values/compare.ts";
import { EvaluationError, Instant, type Struct, type Value } from "../values/values.ts";
import {
  type Compiler,
  type Evaluator,
  errorAt,
  type NodeOf,
  type Place,
  placeOf,
  quotePlace,
  toUsable,
  unusable,
} from "./compiler.ts";
import { Unusable } from "./scope.ts";

export function compileLiteral(node: NodeOf<"literal">): Evaluator {
  const { value } = node;
  if (typeof value !== "bigint" || isInRange(value)) return () => value;
  const error = errorAt(placeOf(node), "the number is larger than 2^256 - 1");
  return () => error;
}

export function compileTimestamp({ ms }: NodeOf<"timestamp">): Evaluator {
  const instant = new Instant(ms);
  return () => instant;
}

export function compileCronSpan({ cronSpan }: NodeOf<"cronSpan">): Evaluator {
  return (scope) => isInCronSpan(cronSpan, scope.now.ms);
}

/** A keyword without fields, or a bound name. */
export function compileName(node: NodeOf<"name">, compiler: Compiler): Evaluator {
  const place = placeOf(node);
  const { source } = compiler;
  const depth = compiler.binders.get(node.name);
  if (depth === undefined) return compilePath(place, [node.name], source);
  return (scope) => scope.elements[depth] ?? errorAt(place, `${quotePlace(source, place)} is not bound`);
}

export function compileField(node: NodeOf<"field">, compiler: Compiler): Evaluator {
  const place = placeOf(node);
  const { source } = compiler;
  const path = pathOf(node, compiler);
  if (path !== undefined) return compilePath(place, path, source);
  const { name } = node;
  const of = compiler.compile(node.of);
  return (scope) => {
    const struct = of(scope);
    if (struct instanceof EvaluationError) return struct;
    const value = toUsable(fieldOf(struct, name));
    return value instanceof Unusable ? unusable(source, place, value) : value;
  };
}

/** Names are checked against the vocabulary, so a struct is asked for nothing that it does not declare. */
function fieldOf(value: Value | undefined, name: string): Value | undefined {
  return typeof value === "object" && value !== null ? (value as Struct)[name] : undefined;
}

/** The names from a keyword to this field, or undefined if it starts elsewhere: at an element, or behind an index. */
export function pathOf(node: Expression, { binders }: Pick<Compiler, "binders">): readonly string[] | undefined {
  const path: string[] = [];
  let at = node;
  for (; at.kind === "field"; at = at.of) path.unshift(at.name);
  if (at.kind !== "name" || binders.has(at.name)) return undefined;
  path.unshift(at.name);
  return path;
}

/** A path, and where its value is kept in `Scope.pathValues`. */
type KnownPath = { names: readonly string[]; index: number };

/** Paths are of the vocabulary, so there are some hundreds at most. */
const knownPaths = new Map<string, KnownPath>();

function compilePath(place: Place, names: readonly string[], source: string): Evaluator {
  const name = names.join(".");
  const keyword = keywords.get(name);
  if (keyword !== undefined) return keyword;
  const path = knownPaths.get(name) ?? { names, index: knownPaths.size };
  knownPaths.set(name, path);
  return evaluatePath(place, path, source);
}

function evaluatePath(place: Place, path: KnownPath, source: string): Evaluator {
  return (scope) => {
    const known = scope.pathValues[path.index];
    if (known !== undefined) return known;
    const value = toUsable(scope.facts === undefined ? undefined : lookUp(scope.facts, path.names));
    if (value instanceof Unusable) return unusable(source, place, value);
    scope.pathValues[path.index] = value;
    return value;
  };
}

/** What is there whatever the activity is. */
const keywords: ReadonlyMap<string, Evaluator> = new Map<string, Evaluator>([
  ["approvers", (scope) => scope.approvers],
  ["credentials", (scope) => scope.credentials],
  ["time.now", (scope) => scope.now],
]);

function lookUp(facts: ConditionFacts, path: readonly string[]): Value | undefined {
  const [root = "", next] = path;
  const isParam = root === "activity" && next === "params";
  let value = (isParam ? facts.params : facts[root as keyof ConditionFacts]) as Value | undefined;
  for (let i = isParam ? 2 : 1; i < path.length; i += 1) value = fieldOf(value, path[i] ?? "");
  return value;
}
