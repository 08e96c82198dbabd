/**
 * How much is kept of why policies said what they said. Every activity that policies decide on carries it through the frame, and
 * into the database for good; the clauses of a hundred policies may be four thousand characters each.
 */
import type { PolicyEvaluation } from "@keystead/core/policy/decision/decide.ts";
import type { Effect } from "@keystead/core/policy/decision/effect.ts";
import type { PolicyExplanation } from "@keystead/core/policy/decision/explain.ts";
import { nearnessOf } from "@keystead/core/policy/decision/nearness.ts";

/** So many are told with a refusal: it is read by somebody who wants to know what to change. */
export const maxDecisive = 3;

/**
 * The reasons that tell whoever was refused most, in their order: of the policies that deny; or else of those that allow and came
 * nearest to it, such as by lacking approvals alone. All reasons are in `get_policy_evaluations`.
 */
export function decisive(
  explanations: readonly PolicyExplanation[],
  evaluations: readonly PolicyEvaluation[],
  effectOf: (policyId: string) => Effect | undefined,
): readonly PolicyExplanation[] {
  const denying = new Set(evaluations.filter(({ denies }) => denies).map(({ policyId }) => policyId));
  const denials = explanations.filter(({ policyId }) => denying.has(policyId));
  if (denials.length > 0) return denials.slice(0, maxDecisive);
  const nearest = explanations
    .filter(({ policyId }) => effectOf(policyId) === "EFFECT_ALLOW")
    .toSorted((a, b) => nearnessOf(b) - nearnessOf(a) || strangenessOf(a) - strangenessOf(b))
    .slice(0, maxDecisive);
  return explanations.filter((one) => nearest.includes(one));
}

/** Of policies none of which is near: one that could not be evaluated may be meant, one about something else hardly. */
function strangenessOf({ outcome, reason = "" }: PolicyExplanation): number {
  if (outcome !== "OUTCOME_ERROR") return 1;
  return reason.startsWith("not applicable") ? 2 : 0;
}

/** In characters, of all explanations of one decision together. Those of a hundred ordinary policies take a quarter of it. */
export const maxExplanationLength = 128 * 1024;

/** All of them in their order. Where they are too long, the last of those that settle nothing keep only their outcome. */
export function withinBounds(
  explanations: readonly PolicyExplanation[],
  evaluations: readonly PolicyEvaluation[],
): readonly PolicyExplanation[] {
  const total = explanations.reduce((sum, explanation) => sum + lengthOf(explanation), 0);
  if (total <= maxExplanationLength) return explanations;
  const settling = new Set(evaluations.filter(settles).map(({ policyId }) => policyId));
  const isSettling = ({ policyId }: PolicyExplanation) => settling.has(policyId);
  const kept = new Set<PolicyExplanation>();
  let left = maxExplanationLength;
  for (const each of [...explanations.filter(isSettling), ...explanations.filter((one) => !isSettling(one))]) {
    left -= lengthOf(each);
    if (left < 0) break;
    kept.add(each);
  }
  return explanations.map((explanation) => (kept.has(explanation) ? explanation : leftOut(explanation)));
}

function settles({ denies, outcome }: PolicyEvaluation): boolean {
  return denies || outcome === "OUTCOME_ALLOW" || outcome === "OUTCOME_REQUIRES_CONSENSUS";
}

function leftOut({ policyId, outcome }: PolicyExplanation): PolicyExplanation {
  return { policyId, outcome, observed: {}, reason: "not explained: there is more to say than is kept" };
}

/** About what it takes as JSON: names, ids and numbers are some two hundred characters. */
function lengthOf({ clause = "", reason = "", observed }: PolicyExplanation): number {
  let length = 200 + clause.length + reason.length;
  for (const name in observed) length += name.length + (observed[name]?.length ?? 0) + 6;
  return length;
}
