import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { ipAllowlistParams } from "../fields/ip_allowlists.ts";
import { Type } from "../fields/schema.ts";
import { setList } from "../rules/ip_allowlists.ts";

/**
 * Sets from which addresses the organization's users, or one of its API keys, may send requests. All rules are replaced. Nobody asks
 * whether the caller itself is among them: see docs/decisions/0063.
 */
export const setIpAllowlist = defineActivity({
  path: "set_ip_allowlist",
  type: "ACTIVITY_TYPE_SET_IP_ALLOWLIST",
  intentKey: "setIpAllowlistIntent",
  resultKey: "setIpAllowlistResult",
  summary: "Set the IP addresses that requests may come from",
  params: ipAllowlistParams,
  result: Type.Object({}),
  cost: ({ rules }) => (rules ?? []).length * unitCosts.entry,
  state: ({ members, ipAllowlists }) => ({ members, ipAllowlists }),
  run({ members, ipAllowlists }, params, context) {
    return { changes: setList(ipAllowlists, members, params, context), result: {} };
  },
});
