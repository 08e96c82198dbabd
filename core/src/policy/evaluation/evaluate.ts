/**
 * Turns a checked expression into a function of what a request shows. There is no short circuit: every part is evaluated,
 * an error in any of them is an error of the whole, and the first one is reported. Nothing throws, and the number of steps
 * is bounded.
 */
import type { Expression } from "../language/ast.ts";
import type { CheckedExpression } from "../language/check.ts";
import { evaluationStepsOf } from "../language/evaluation_steps.ts";
import { EvaluationError, type Value } from "../values/values.ts";
import { compileCompare } from "./comparison.ts";
import {
  type Binders,
  type Compiler,
  type Evaluator,
  exhausted,
  mismatch,
  type NodeOf,
  type Observation,
  type Place,
  placeOf,
  type Recorder,
} from "./compiler.ts";
import { compileCount, compileEach } from "./each.ts";
import { compileIndex, compileSlice } from "./element_access.ts";
import { compileCronSpan, compileField, compileLiteral, compileName, compileTimestamp } from "./literals_and_names.ts";
import { compileIn } from "./membership.ts";
import { grant, settle } from "./scope.ts";

export type { Evaluator, Recorder } from "./compiler.ts";

/** An expression, ready to run. */
export type CompiledExpression = {
  kind: CheckedExpression["kind"];
  source: string;
  /** Of its root. */
  place: Place;
  evaluate: Evaluator;
  /** What the expression is an `&&` of: itself, if of nothing. */
  clauses: readonly Clause[];
  /** What it takes without the insides of loops: to be granted before the clauses are run one by one. */
  steps: number;
};

/** Runs within the steps that the scope has left. */
export type Clause = { place: Place; evaluate: Evaluator; observations: readonly Observation[] | undefined };

/** The recorder is told of every part; without one there is nothing between the parts. */
export function compile(checked: CheckedExpression, record?: Recorder): Evaluator {
  return compileExpression(checked, record).evaluate;
}

export function compileExpression(checked: CheckedExpression, record?: Recorder): CompiledExpression {
  const { kind, source, root } = checked;
  const compiler = createCompiler(source, record);
  const parts = root.kind === "and" ? root.items : [root];
  const clauses = parts.map((node) => {
    return { place: placeOf(node), evaluate: compileClause(node, compiler), observations: undefined };
  });
  const [only] = clauses;
  const whole = root.kind !== "and" && only !== undefined ? only.evaluate : joinClauses(root, clauses, source, record);
  const steps = evaluationStepsOf(root);
  const place = placeOf(root);
  // Policies without a time, say, are many, and a literal takes no steps to speak of.
  const evaluate = root.kind === "literal" ? whole : metered(whole, steps, place);
  return { kind, source, place, evaluate, clauses, steps };
}

function metered(whole: Evaluator, steps: number, place: Place): Evaluator {
  return (scope) => (grant(scope, steps) ? settle(scope, whole(scope)) : exhausted(place));
}

const valueKinds: readonly Expression["kind"][] = ["name", "field", "index", "slice"];

/** A value that only the request knows (`contract_call_args['isFinal']`) may turn out to be no bool. */
function compileClause(node: Expression, compiler: Compiler): Evaluator {
  const { source } = compiler;
  const evaluate = compiler.compile(node);
  if (!valueKinds.includes(node.kind)) return evaluate;
  const place = placeOf(node);
  return (scope) => {
    const result = evaluate(scope);
    return typeof result === "boolean" ? result : mismatch(source, place, result, "a bool");
  };
}

function joinClauses(
  root: Expression,
  clauses: readonly Clause[],
  source: string,
  record: Recorder | undefined,
): Evaluator {
  const [places, parts] = [clauses.map(({ place }) => place), clauses.map(({ evaluate }) => evaluate)];
  return recorded(root, join(places, parts, false, source), record);
}

export function createCompiler(source: string, record?: Recorder, binders: Binders = new Map()): Compiler {
  const compiler: Compiler = {
    source,
    binders,
    compile(node, inner) {
      const within = inner === undefined ? compiler : createCompiler(source, record, inner);
      const compileNode = compilers[node.kind] as (node: Expression, compiler: Compiler) => Evaluator;
      return recorded(node, compileNode(node, within), record);
    },
  };
  return compiler;
}

function recorded(node: Expression, evaluate: Evaluator, record: Recorder | undefined): Evaluator {
  const listener = record?.(node);
  if (listener === undefined) return evaluate;
  return (scope) => {
    const result = evaluate(scope);
    listener(result);
    return result;
  };
}

const compilers: { readonly [K in Expression["kind"]]: (node: NodeOf<K>, compiler: Compiler) => Evaluator } = {
  literal: compileLiteral,
  list: compileList,
  name: compileName,
  field: compileField,
  index: compileIndex,
  slice: compileSlice,
  each: compileEach,
  contains: (node, compiler) => compileIn(node, node.item, node.of, compiler),
  count: compileCount,
  not: compileNot,
  and: ({ items }, compiler) => join(items.map(placeOf), compileAll(items, compiler), false, compiler.source),
  or: ({ items }, compiler) => join(items.map(placeOf), compileAll(items, compiler), true, compiler.source),
  compare: compileCompare,
  timestamp: compileTimestamp,
  cronSpan: compileCronSpan,
};

function compileAll(nodes: readonly Expression[], compiler: Compiler): readonly Evaluator[] {
  return nodes.map((node) => compiler.compile(node));
}

function compileNot(node: NodeOf<"not">, compiler: Compiler): Evaluator {
  const of = compiler.compile(node.of);
  const { source } = compiler;
  const place = placeOf(node.of);
  return (scope) => {
    const result = of(scope);
    return typeof result === "boolean" ? !result : mismatch(source, place, result, "a bool");
  };
}

/** `&&` is decided by the first false, `||` by the first true; but the rest must have a value as well. */
function join(places: readonly Place[], parts: readonly Evaluator[], deciding: boolean, source: string): Evaluator {
  return (scope) => {
    let joined = !deciding;
    let error: EvaluationError | undefined;
    for (let i = 0; i < parts.length; i += 1) {
      const result = (parts[i] as Evaluator)(scope);
      if (result === deciding) joined = deciding;
      else if (result !== !deciding) error ??= mismatch(source, places[i] as Place, result, "a bool");
    }
    return error ?? joined;
  };
}

function compileList({ items }: NodeOf<"list">, compiler: Compiler): Evaluator {
  const parts = compileAll(items, compiler);
  return (scope) => {
    const list: Value[] = [];
    let error: EvaluationError | undefined;
    for (const evaluate of parts) {
      const result = evaluate(scope);
      if (result instanceof EvaluationError) error ??= result;
      else list.push(result);
    }
    return error ?? list;
  };
}
