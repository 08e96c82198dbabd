import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { id, organizationId } from "../fields/ids.ts";
import { policy } from "../fields/policies.ts";
import { Type } from "../fields/schema.ts";
import { findPolicy } from "../store/policies.ts";
import { policyView } from "../views/policy_view.ts";

export const getPolicy = defineQuery({
  path: "get_policy",
  summary: "Get one policy",
  request: Type.Object({ organizationId, policyId: id }),
  response: Type.Object({ policy }),
  async run(store, _caller, { organizationId, policyId }) {
    const found = await findPolicy(store, organizationId, policyId);
    if (found === undefined) {
      throw new Fault("not_found", `unable to find policy ${policyId} in organization ${organizationId}`);
    }
    return { policy: policyView(found) };
  },
});
