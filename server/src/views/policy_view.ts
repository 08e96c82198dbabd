/** Policies, what they said, and the interfaces they read calls by, as clients see them. */

import type { Policy } from "../state/entities.ts";
import { decodeEvaluations } from "../state/policy_evaluations.ts";
import { decodeExplanations } from "../state/policy_explanations.ts";
import type { StoredInterface } from "../store/contract_interfaces.ts";
import type { EvaluatedVote } from "../store/policy_evaluations.ts";
import type { StoredVote } from "./activity_view.ts";
import { timestamp } from "./dialect.ts";

export function policyView({ createdAtMs, updatedAtMs, ...policy }: Policy) {
  return { ...policy, createdAt: timestamp(createdAtMs), updatedAt: timestamp(updatedAtMs) };
}

/** There is one for each vote, so the vote's id is its own as well. */
export function policyEvaluationView(
  organizationId: string,
  activityId: string,
  { vote, evaluations, explanation }: EvaluatedVote,
) {
  const { id, createdAtMs } = JSON.parse(vote) as StoredVote;
  const policyEvaluations = evaluations === null ? [] : decodeEvaluations(evaluations);
  return {
    id,
    activityId,
    organizationId,
    voteId: id,
    policyEvaluations,
    createdAt: timestamp(createdAtMs),
    // Why, as the signer wrote it down.
    details: explanation === null ? [] : decodeExplanations(explanation, policyEvaluations),
  };
}

export function contractInterfaceView(organizationId: string, stored: StoredInterface) {
  const { interfaceId, type, address, label, notes, text, createdAtMs, updatedAtMs } = stored;
  return {
    organizationId,
    smartContractInterfaceId: interfaceId,
    smartContractAddress: address,
    smartContractInterface: text,
    type,
    label,
    notes,
    createdAt: timestamp(createdAtMs),
    updatedAt: timestamp(updatedAtMs),
  };
}
