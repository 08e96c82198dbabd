import { defineActivity } from "../endpoints/define_activity.ts";
import { listedKey } from "../fields/ip_allowlists.ts";
import { Type } from "../fields/schema.ts";
import { removeList } from "../rules/ip_allowlists.ts";

/** Removes the organization's IP allowlist, after which requests may come from anywhere; or that of one API key. */
export const removeIpAllowlist = defineActivity({
  path: "remove_ip_allowlist",
  type: "ACTIVITY_TYPE_REMOVE_IP_ALLOWLIST",
  intentKey: "removeIpAllowlistIntent",
  resultKey: "removeIpAllowlistResult",
  summary: "Remove the IP allowlist of an organization or an API key",
  params: Type.Object({ publicKey: listedKey }),
  result: Type.Object({}),
  state: ({ ipAllowlists }) => ipAllowlists,
  run(ipAllowlists, { publicKey }, context) {
    return { changes: removeList(ipAllowlists, publicKey, context), result: {} };
  },
});
