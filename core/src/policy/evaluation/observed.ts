/** Which values of a request an expression looks at: what to show to somebody who asks why. */
import type { Expression } from "../language/ast.ts";
import { type CheckedExpression, checkOptional } from "../language/check.ts";
import { childrenOf } from "../language/children.ts";
import { type Evaluator, type Observation, rangeOf } from "./compiler.ts";
import { type Clause, type CompiledExpression, createCompiler } from "./evaluate.ts";

export const maxObservations = 16;
const maxTextLength = 200;

/**
 * Of one of the expression's clauses. Most are never asked for, so they are made of the text when somebody does, and kept: a clause is an
 * expression by itself.
 */
export function observationsOf({ kind, source }: CompiledExpression, clause: Clause): readonly Observation[] {
  const { start, end } = rangeOf(clause.place);
  clause.observations ??= observe(checkOptional(kind, source.slice(start, end)));
  return clause.observations;
}

/** The first ones, each once. Elements of lists are not among them, but the lists are. */
function observe({ source, root }: CheckedExpression): readonly Observation[] {
  const compiler = createCompiler(source);
  const found = new Map<string, Evaluator>();
  for (const [text, seen] of observationsIn(root, source, new Set())) {
    if (found.size < maxObservations && !found.has(text)) found.set(text, compiler.compile(seen));
  }
  return Array.from(found, ([text, evaluate]) => ({ text, evaluate }));
}

type Names = ReadonlySet<string>;

function* observationsIn(node: Expression, source: string, bound: Names): Iterable<readonly [string, Expression]> {
  if (isOfRequest(node, bound)) yield [source.slice(node.start, node.end).slice(0, maxTextLength), node];
  else if (node.kind === "cronSpan") yield ["time.now", timeNow(node)];
  else if (node.kind !== "each") for (const child of childrenOf(node)) yield* observationsIn(child, source, bound);
  else {
    yield* observationsIn(node.of, source, bound);
    yield* observationsIn(node.body, source, new Set(bound).add(node.binder));
  }
}

/** Starts at a keyword, and depends on nothing that is bound around it. */
function isOfRequest(node: Expression, bound: Names): boolean {
  switch (node.kind) {
    case "name":
      return !bound.has(node.name);
    case "field":
      return isOfRequest(node.of, bound);
    case "index":
      return isOfRequest(node.of, bound) && isFixed(node.at, bound);
    case "slice":
      return isOfRequest(node.of, bound) && isFixed(node.from, bound) && isFixed(node.to, bound);
    default:
      return false;
  }
}

function isFixed(node: Expression, bound: Names): boolean {
  return node.kind === "literal" || isOfRequest(node, bound);
}

/** What a span looks at without naming it. */
function timeNow({ start, end }: Expression): Expression {
  return { kind: "field", of: { kind: "name", name: "time", start, end }, name: "now", start, end };
}
