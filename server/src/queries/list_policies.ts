import { defineQuery } from "../endpoints/define_query.ts";
import { organizationId } from "../fields/ids.ts";
import { policy } from "../fields/policies.ts";
import { Type } from "../fields/schema.ts";
import { mapWithBreaths } from "../store/breaths.ts";
import { listPolicies as listStoredPolicies } from "../store/policies.ts";
import { policyView } from "../views/policy_view.ts";

export const listPolicies = defineQuery({
  path: "list_policies",
  summary: "List all policies",
  request: Type.Object({ organizationId }),
  response: Type.Object({ policies: Type.Array(policy) }),
  run: async (store, _caller, { organizationId }) => ({
    policies: await mapWithBreaths(await listStoredPolicies(store, organizationId), policyView),
  }),
});
