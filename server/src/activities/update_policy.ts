import { costOfExpressions } from "../endpoints/cost.ts";
import { defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { optional } from "../fields/credentials.ts";
import { id } from "../fields/ids.ts";
import { knownFields } from "../fields/known_fields.ts";
import { condition, consensus, effect, notes, policyName, time } from "../fields/policies.ts";
import { type Static, Type } from "../fields/schema.ts";
import { getPolicy, refuseTakenPolicyName, replacedPolicy } from "../rules/policy_changes.ts";
import { put } from "../state/entities.ts";

const paramsV1 = Type.Object({
  policyId: id,
  policyName: optional(policyName),
  policyEffect: optional(effect),
  policyCondition: optional(condition),
  policyConsensus: optional(consensus),
  policyNotes: optional(notes),
});

const params = Type.Object({ ...paramsV1.properties, time: optional(time) });

/** Before policies had times. */
const v1 = defineVersion({
  type: "ACTIVITY_TYPE_UPDATE_POLICY",
  intentKey: "updatePolicyIntent",
  resultKey: "updatePolicyResult",
  params: paramsV1,
  translate: (older): Static<typeof params> => knownFields(paramsV1, older),
});

/** Changes a policy. What is left out stays as it is; an expression is taken away by an empty one. */
export const updatePolicy = defineActivity({
  path: "update_policy",
  type: "ACTIVITY_TYPE_UPDATE_POLICY_V2",
  intentKey: "updatePolicyIntentV2",
  resultKey: "updatePolicyResultV2",
  summary: "Change a policy",
  params,
  result: Type.Object({ policyId: id }),
  versions: [v1],
  cost: (params) => costOfExpressions([params]),
  state: ({ policies }) => policies,
  run(page, asked, context) {
    const { organizationId, nowMs } = context;
    const { policyId, policyName } = asked;
    const policy = getPolicy(page, organizationId, policyId);
    if (policyName != null) refuseTakenPolicyName(page, policyName, policyId);
    const changed = {
      ...policy,
      policyName: policyName ?? policy.policyName,
      effect: asked.policyEffect ?? policy.effect,
      condition: asked.policyCondition ?? policy.condition,
      consensus: asked.policyConsensus ?? policy.consensus,
      time: asked.time ?? policy.time,
      notes: asked.policyNotes ?? policy.notes,
      updatedAtMs: nowMs,
    };
    return { changes: [put("policy", replacedPolicy(page, policy, changed, context))], result: { policyId } };
  },
});
