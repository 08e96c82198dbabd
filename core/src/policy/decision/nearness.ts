import type { PolicyExplanation } from "./explain.ts";

/** An outcome with the place in the policy that settled it, as far as they are known. */
export type Settled = Pick<PolicyExplanation, "outcome"> & Partial<Pick<PolicyExplanation, "expression" | "start">>;

/**
 * How much of a policy that does not allow did hold, as an order. What fails at its very first clause is not near; what is for other
 * people, whoever approves, is hardly.
 */
export function nearnessOf({ outcome, expression, start = 0 }: Settled): number {
  if (outcome === "OUTCOME_REQUIRES_CONSENSUS") return 3e6;
  if (outcome === "OUTCOME_TIME_INACTIVE") return 2e6;
  if (outcome !== "OUTCOME_DENY_IMPLICIT") return 0;
  if (expression === "consensus") return 0.5;
  return expression === "time" ? 1e6 : start;
}
