/** Every step of a policy's three expressions, for somebody who tries it out. */

import { compile } from "../evaluation/evaluate.ts";
import { Allowance, maxDecisionSteps, Scope, voicesOf } from "../evaluation/scope.ts";
import type { Approver, ConditionFacts } from "../facts/facts.ts";
import type { Expression } from "../language/ast.ts";
import { checkOptional } from "../language/check.ts";
import { toText } from "../values/describe.ts";
import { EvaluationError, type Result } from "../values/values.ts";
import type { ExpressionKind } from "../vocabulary/vocabulary.ts";
import type { CompiledPolicy } from "./compiled_policy.ts";

export type TraceEntry = {
  expression: ExpressionKind;
  /** As written. */
  text: string;
  start: number;
  end: number;
} & ({ value: string } | { error: string });

const maxEntries = 2000;
const maxValueLength = 200;

/** What the traces of several policies share: the steps of a decision, and how much they may write, in characters. */
export class TraceBounds {
  readonly allowance = new Allowance(maxDecisionSteps);
  charactersLeft = 2_000_000;
}

/**
 * What each part of the condition, the consensus and the time came to, parts before the whole; inside `all`, `any` and
 * `filter` once for each element. Literals are left out. It is the decision's own evaluator that is listened to.
 */
export function trace(
  { condition, consensus, time }: CompiledPolicy,
  view: ConditionFacts,
  approvers: readonly Approver[],
  nowMs: number,
  bounds = new TraceBounds(),
): readonly TraceEntry[] {
  const entries: TraceEntry[] = [];
  const scope = new Scope(view, voicesOf(approvers), nowMs, bounds.allowance);
  for (const { kind, source } of [condition, consensus, time]) {
    const evaluate = compile(checkOptional(kind, source), (node) => {
      return isPlain(node) ? undefined : (result) => add(kind, source, node, result);
    });
    evaluate(scope);
  }
  return entries;

  function add(kind: ExpressionKind, source: string, { start, end }: Expression, result: Result): void {
    if (entries.length >= maxEntries || bounds.charactersLeft <= 0) return;
    const found =
      result instanceof EvaluationError ? { error: result.message } : { value: toText(result, maxValueLength) };
    bounds.charactersLeft -= end - start + (found.value ?? found.error).length;
    entries.push({ expression: kind, text: source.slice(start, end), start, end, ...found });
  }
}

/** Shows what it is by itself. */
function isPlain({ kind }: Expression): boolean {
  return kind === "literal" || kind === "timestamp";
}
