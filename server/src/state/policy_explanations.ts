/**
 * Why every policy said what it said about one vote, as it is stored: JSON, one entry for each policy. Which policy and which outcome
 * stand in the evaluations beside it, in the same order; entries that are not in that order name them.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { PolicyExplanation } from "@keystead/core/policy/decision/explain.ts";
import type { PolicyOutcome } from "./policy_evaluations.ts";

/** Of each policy what was said last, with its text: policies are asked again and again, and mostly say what they said before. */
const told = new Map<string, { explanation: PolicyExplanation; isInOrder: boolean; text: string }>();
const maxExplained = 4_096;

export function encodeExplanations(
  explanations: readonly PolicyExplanation[],
  evaluations: readonly PolicyOutcome[],
): string {
  let text = "[";
  for (let i = 0; i < explanations.length; i++) {
    const explanation = explanations[i] as PolicyExplanation;
    const evaluation = evaluations[i];
    const isInOrder = evaluation?.policyId === explanation.policyId && evaluation.outcome === explanation.outcome;
    text += `${i === 0 ? "" : ","}${textOf(explanation, isInOrder)}`;
  }
  return `${text}]`;
}

function textOf(explanation: PolicyExplanation, isInOrder: boolean): string {
  const { policyId } = explanation;
  const before = told.get(policyId);
  if (before?.isInOrder === isInOrder && isSame(before.explanation, explanation)) return before.text;
  const { policyId: _, outcome, ...why } = explanation;
  const text = JSON.stringify(isInOrder ? why : { policyId, outcome, ...why });
  if (told.size >= maxExplained) told.clear();
  told.set(policyId, { explanation, isInOrder, text });
  return text;
}

function isSame(a: PolicyExplanation, b: PolicyExplanation): boolean {
  return (
    a.outcome === b.outcome &&
    a.expression === b.expression &&
    a.start === b.start &&
    a.end === b.end &&
    a.clause === b.clause &&
    a.reason === b.reason &&
    sawSame(a.observed, b.observed)
  );
}

function sawSame(a: PolicyExplanation["observed"], b: PolicyExplanation["observed"]): boolean {
  let count = 0;
  for (const name in a) {
    if (a[name] !== b[name]) return false;
    count += 1;
  }
  for (const _ in b) count -= 1;
  return count === 0;
}

export function decodeExplanations(text: string, evaluations: readonly PolicyOutcome[]): PolicyExplanation[] {
  const entries = JSON.parse(text) as (PolicyExplanation | Omit<PolicyExplanation, "policyId" | "outcome">)[];
  return entries.map((entry, at) => {
    if ("policyId" in entry) return entry;
    const evaluation = evaluations[at];
    if (evaluation === undefined) throw new Fault("internal", "stored explanations have more entries than evaluations");
    return { policyId: evaluation.policyId, outcome: evaluation.outcome, ...entry };
  });
}
