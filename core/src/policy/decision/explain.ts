/** Why each policy said what it said: the clause that settled it, and what the request had there. */

import { createPace, finish, type Work } from "../../work.ts";
import { type Observation, rangeOf } from "../evaluation/compiler.ts";
import type { CompiledExpression } from "../evaluation/evaluate.ts";
import { maxObservations, observationsOf } from "../evaluation/observed.ts";
import { Allowance, grant, maxDecisionSteps, Scope, settle, voicesOf } from "../evaluation/scope.ts";
import type { ConditionFacts } from "../facts/facts.ts";
import { toText } from "../values/describe.ts";
import { EvaluationError } from "../values/values.ts";
import type { ExpressionKind } from "../vocabulary/vocabulary.ts";
import type { CompiledPolicy } from "./compiled_policy.ts";
import {
  type Outcome,
  type PolicyDecision,
  type PolicyEvaluation,
  type PolicyQuestion,
  stepsAtOnce,
} from "./decide.ts";
import { findAbsent, presentIn } from "./needs.ts";
import { allowsEverything } from "./open_policy.ts";

export type PolicyExplanation = {
  policyId: string;
  outcome: Outcome;
  /** The expression that settled it. */
  expression?: ExpressionKind;
  /**
   * As written: the first operand of the outermost `&&` that is false or errs, or the whole where everything held. A long one is cut,
   * and ends with an ellipsis then.
   */
  clause?: string;
  /** Where it stands in the expression. */
  start?: number;
  end?: number;
  /** What the names in the clause were, such as `{"eth.tx.to": "0x…"}`. */
  observed: Readonly<Record<string, string>>;
  /** Of errors, of policies that are not applicable and of one that allows everything, in a sentence. */
  reason?: string;
};

const maxValueLength = 200;
/** Of clauses and reasons. An expression may have four thousand characters, and a hundred policies are explained at once. */
const maxClauseLength = 400;

/** So many reasons are read by somebody, and kept with every activity. Those that settled it come before the others. */
export const maxExplanations = 100;

/** One for each policy, in the order of the question, about the view that decided; of very many the first hundred that matter. */
export function explain(question: PolicyQuestion, decision: PolicyDecision): readonly PolicyExplanation[] {
  return finish(explaining(question, decision));
}

/** Text between two pauses, in characters: what is observed in it is worked out when it is first asked for, a millisecond's work. */
const textAtOnce = 1024;

/** The same with pauses. */
export function* explaining(question: PolicyQuestion, decision: PolicyDecision): Work<readonly PolicyExplanation[]> {
  const view = question.views[decision.view];
  if (view === undefined) return [];
  const allowance = new Allowance(maxDecisionSteps);
  const scope = new Scope(view, voicesOf(question.approvers), question.nowMs, allowance);
  const present = presentIn(view);
  const [isTextDue, areStepsDue] = [createPace(textAtOnce), createPace(stepsAtOnce)];
  const explanations: PolicyExplanation[] = [];
  for (const at of placesToExplain(decision.evaluations)) {
    const { policyId, outcome, denies } = decision.evaluations[at] as PolicyEvaluation;
    const policy = question.policies[at]?.policy;
    const stepsBefore = allowance.left;
    const why = policy === undefined ? nothingToAdd : whys[outcome](policy, scope, { view, present, denies });
    explanations.push({ policyId, outcome, ...why });
    const isDue = [isTextDue(policy === undefined ? 0 : lengthOf(policy)), areStepsDue(stepsBefore - allowance.left)];
    if (isDue.includes(true)) yield;
  }
  return explanations;
}

function lengthOf({ condition, consensus, time }: CompiledPolicy): number {
  return condition.source.length + consensus.source.length + time.source.length;
}

function placesToExplain(evaluations: readonly PolicyEvaluation[]): readonly number[] {
  const places = evaluations.map((_, at) => at);
  if (places.length <= maxExplanations) return places;
  const settled = ({ outcome, denies }: PolicyEvaluation) =>
    denies || outcome === "OUTCOME_ALLOW" || outcome === "OUTCOME_REQUIRES_CONSENSUS";
  const isSettled = places.map((at) => settled(evaluations[at] as PolicyEvaluation));
  const first = places.filter((at) => isSettled[at]);
  const others = places.filter((at) => !isSettled[at]);
  return [...first, ...others].slice(0, maxExplanations);
}

type Why = Omit<PolicyExplanation, "policyId" | "outcome">;
type Seen = { view: ConditionFacts; present: number; denies: boolean };

const nothingToAdd: Why = { observed: {} };

const whys: Readonly<Record<Outcome, (policy: CompiledPolicy, scope: Scope, seen: Seen) => Why>> = {
  OUTCOME_ALLOW: explainAllow,
  OUTCOME_DENY_EXPLICIT: explainWhole,
  OUTCOME_DENY_IMPLICIT: ({ condition, consensus, time }, scope) => explainFalse([condition, consensus, time], scope),
  OUTCOME_REQUIRES_CONSENSUS: ({ consensus }, scope) => explainFalse([consensus], scope),
  OUTCOME_TIME_INACTIVE: ({ time }, scope) => explainFalse([time], scope),
  OUTCOME_ERROR: explainError,
  OUTCOME_REJECTED: () => nothingToAdd,
  OUTCOME_REQUIRES_AUTHENTICATORS: () => nothingToAdd,
};

/** Whoever reads why something was allowed should know that everything is. */
function explainAllow(policy: CompiledPolicy, scope: Scope): Why {
  const why = explainWhole(policy, scope);
  if (!policy.isOpen) return why;
  const when = policy.time.source === "" ? "" : " while its time holds";
  return {
    ...why,
    reason: `it ${allowsEverything}${when}: neither its condition nor its consensus restricts anything`,
  };
}

/** Everything held, so what the policy is about says most; an expression that is left out says nothing. */
function explainWhole({ condition, consensus, time }: CompiledPolicy, scope: Scope): Why {
  const expression = [condition, consensus, time].find(({ source }) => source !== "");
  if (expression === undefined) return nothingToAdd;
  const { kind, source, clauses } = expression;
  const observations = clauses.flatMap((clause) => observationsOf(expression, clause));
  const observed = observeAll(observations, scope);
  return { expression: kind, clause: shorten(source), start: 0, end: source.length, observed };
}

function explainFalse(expressions: readonly CompiledExpression[], scope: Scope): Why {
  return explainFirst(expressions, scope, (result) => result === false) ?? nothingToAdd;
}

function explainError(policy: CompiledPolicy, scope: Scope, { view, present, denies }: Seen): Why {
  const absent = findAbsent(policy.needs, view, present);
  if (absent !== undefined) {
    const reason = `not applicable: this activity has no \`${absent}\``;
    return { expression: "condition", observed: {}, reason };
  }
  const { condition, consensus, time } = policy;
  const why = explainFirst([condition, consensus, time], scope, (result) => typeof result !== "boolean");
  // What has a value when it is asked alone had no steps left when all were.
  const known: Why = why ?? { observed: {}, reason: `all policies together take more than ${maxDecisionSteps} steps` };
  if (!denies) return known;
  return { ...known, reason: `${known.reason}; a policy that denies does so too when it cannot be evaluated` };
}

/** Where the clause stands is said beside it, so that the whole can be found. */
function shorten(text: string): string {
  return text.length > maxClauseLength ? `${text.slice(0, maxClauseLength - 1)}…` : text;
}

/** Runs the clauses as the decision ran them, with the same steps, until one of them is what is looked for. */
function explainFirst(
  expressions: readonly CompiledExpression[],
  scope: Scope,
  settles: (result: unknown) => boolean,
): Why | undefined {
  for (const expression of expressions) {
    const { kind, source, clauses, steps } = expression;
    if (!grant(scope, steps)) return undefined;
    for (const clause of clauses) {
      const result = clause.evaluate(scope);
      if (!settles(result)) continue;
      settle(scope, result);
      const { start, end } = rangeOf(clause.place);
      const why: Why = { expression: kind, clause: shorten(source.slice(start, end)), start, end, observed: {} };
      if (result instanceof EvaluationError) why.reason = shorten(result.message);
      why.observed = observeAll(observationsOf(expression, clause), scope);
      return why;
    }
    settle(scope, undefined);
  }
  return undefined;
}

/** What has no value is left out: the reason says so. */
function observeAll(observations: readonly Observation[], scope: Scope): Readonly<Record<string, string>> {
  const observed: Record<string, string> = {};
  let count = 0;
  if (!grant(scope, 0)) return observed;
  for (const { text, evaluate } of observations) {
    if (count >= maxObservations) break;
    const value = evaluate(scope);
    if (value instanceof EvaluationError) continue;
    observed[text] = toText(value, maxValueLength);
    count += 1;
  }
  return settle(scope, observed);
}
