import { defineActivity } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { getPolicy } from "../rules/policy_changes.ts";
import { remove } from "../state/entities.ts";

/** Deletes a policy. What waits for consensus is decided without it from then on. */
export const deletePolicy = defineActivity({
  path: "delete_policy",
  type: "ACTIVITY_TYPE_DELETE_POLICY",
  intentKey: "deletePolicyIntent",
  resultKey: "deletePolicyResult",
  summary: "Delete a policy",
  params: Type.Object({ policyId: id }),
  result: Type.Object({ policyId: id }),
  state: ({ policies }) => policies,
  run(page, { policyId }, { organizationId }) {
    getPolicy(page, organizationId, policyId);
    return { changes: [remove("policy", policyId)], result: { policyId } };
  },
});
