/** A decision in one word of the published protocol, as app proofs say it. */
import type { Outcome } from "@keystead/core/policy/decision/decide.ts";
import type { Decision } from "./authorise.ts";

export function outcomeOf({ kind, weighed }: Decision): Outcome {
  if (kind === "allow") return "OUTCOME_ALLOW";
  if (kind === "consensus") return "OUTCOME_REQUIRES_CONSENSUS";
  if (kind === "fail") return "OUTCOME_ERROR";
  return weighed?.evaluations.some(({ denies }) => denies) === true ? "OUTCOME_DENY_EXPLICIT" : "OUTCOME_DENY_IMPLICIT";
}
