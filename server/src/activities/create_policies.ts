import { costOfExpressions } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { ids } from "../fields/ids.ts";
import { policyParams } from "../fields/policies.ts";
import { Type } from "../fields/schema.ts";
import { newPolicies } from "../rules/policy_changes.ts";
import { put } from "../state/entities.ts";

/** Creates policies: all of them, or none. Their ids are in the order asked for. */
export const createPolicies = defineActivity({
  path: "create_policies",
  type: "ACTIVITY_TYPE_CREATE_POLICIES",
  intentKey: "createPoliciesIntent",
  resultKey: "createPoliciesResult",
  summary: "Create several policies at once",
  // The signer checks every expression while others wait, so that their number is bounded.
  params: Type.Object({ policies: Type.Array(policyParams, { minItems: 1, maxItems: 100 }) }),
  result: Type.Object({ policyIds: ids }),
  cost: ({ policies }) => costOfExpressions(policies),
  state: ({ policies }) => policies,
  *run(page, { policies: drafts }, context) {
    const policies = yield* newPolicies(page, drafts, context);
    return {
      changes: policies.map((policy) => put("policy", policy)),
      result: { policyIds: policies.map(({ policyId }) => policyId) },
    };
  },
});
