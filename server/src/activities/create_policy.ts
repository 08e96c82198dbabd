import { costOfExpressions } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { policyParams } from "../fields/policies.ts";
import { Type } from "../fields/schema.ts";
import { newPolicies } from "../rules/policy_changes.ts";
import { put } from "../state/entities.ts";

/** Policies made of selectors say less than expressions do, and nobody writes them any more. */
const selectors = "policies are written as expressions; use `ACTIVITY_TYPE_CREATE_POLICY_V3`";

/** Creates a policy. Its expressions are checked now, and kept as they are written. */
export const createPolicy = defineActivity({
  path: "create_policy",
  type: "ACTIVITY_TYPE_CREATE_POLICY_V3",
  intentKey: "createPolicyIntentV3",
  resultKey: "createPolicyResult",
  summary: "Create a policy",
  params: policyParams,
  result: Type.Object({ policyId: id }),
  formerTypes: { ACTIVITY_TYPE_CREATE_POLICY: selectors, ACTIVITY_TYPE_CREATE_POLICY_V2: selectors },
  cost: (params) => costOfExpressions([params]),
  state: ({ policies }) => policies,
  *run(page, params, context) {
    const policies = yield* newPolicies(page, [params], context);
    return {
      changes: policies.map((policy) => put("policy", policy)),
      result: { policyId: policies[0]?.policyId ?? "" },
    };
  },
});
