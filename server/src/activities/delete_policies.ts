import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { getPolicy } from "../rules/policy_changes.ts";
import { remove } from "../state/entities.ts";

/** Deletes policies: all of them, or none. */
export const deletePolicies = defineActivity({
  path: "delete_policies",
  type: "ACTIVITY_TYPE_DELETE_POLICIES",
  intentKey: "deletePoliciesIntent",
  resultKey: "deletePoliciesResult",
  summary: "Delete several policies at once",
  params: Type.Object({ policyIds: Type.Array(id, { minItems: 1, maxItems: 1_000 }) }),
  result: Type.Object({ policyIds: ids }),
  cost: ({ policyIds }) => policyIds.length * unitCosts.entry,
  state: ({ policies }) => policies,
  run(page, { policyIds }, { organizationId }) {
    const doomed = [...new Set(policyIds)];
    for (const policyId of doomed) getPolicy(page, organizationId, policyId);
    return { changes: doomed.map((policyId) => remove("policy", policyId)), result: { policyIds: doomed } };
  },
});
