import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { id, organizationId } from "../fields/ids.ts";
import { policyEvaluation } from "../fields/policies.ts";
import { Type } from "../fields/schema.ts";
import { findEvaluatedVotes } from "../store/policy_evaluations.ts";
import { policyEvaluationView } from "../views/policy_view.ts";

/** Gets what the policies said about each vote on an activity, the oldest first, and why. */
export const getPolicyEvaluations = defineQuery({
  path: "get_policy_evaluations",
  summary: "Get what the policies said about an activity",
  request: Type.Object({ organizationId, activityId: id }),
  response: Type.Object({ policyEvaluations: Type.Array(policyEvaluation) }),
  async run(store, _caller, { organizationId, activityId }) {
    const votes = await findEvaluatedVotes(store, organizationId, activityId);
    if (votes === undefined) {
      throw new Fault("not_found", `unable to find activity ${activityId} in organization ${organizationId}`);
    }
    return { policyEvaluations: votes.map((vote) => policyEvaluationView(organizationId, activityId, vote)) };
  },
});
