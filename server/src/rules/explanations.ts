/**
 * How much is kept of why policies said what they said. Every activity that policies decide on carries it through the frame, and
 * into the database for good; the clauses of a hundred policies may be four thousand characters each.
 */
import type { PolicyEvaluation } from "@keystead/core/policy/decide.ts";
import type { PolicyExplanation } from "@keystead/core/policy/explain.ts";

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
