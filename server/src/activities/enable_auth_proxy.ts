import { defineActivity } from "../endpoints/define_activity.ts";
import { checkLimit } from "../endpoints/limits.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { findAuthProxy, newAuthProxy, refuseInSubOrganization, withAuthProxyFeature } from "../rules/auth_proxy.ts";
import { put } from "../state/entities.ts";

/**
 * Lets users sign up and in through the auth proxy. The first time it makes the user `Auth Proxy`, which policies can name; later it turns
 * the same configuration on again.
 */
export const enableAuthProxy = defineActivity({
  path: "enable_auth_proxy",
  type: "ACTIVITY_TYPE_ENABLE_AUTH_PROXY",
  intentKey: "enableAuthProxyIntent",
  resultKey: "enableAuthProxyResult",
  summary: "Let users sign up and in through the auth proxy",
  params: Type.Object({}),
  result: Type.Object({ userId: id }),
  state: ({ settings, members, authProxies }) => ({ settings, members, authProxies }),
  run({ settings, members, authProxies }, _params, context) {
    refuseInSubOrganization(context);
    const known = findAuthProxy({ authProxies });
    const { userId } = known ?? { userId: context.newId() };
    if (known === undefined) checkLimit("users", members.users.size + 1, context);
    const made = known === undefined ? newAuthProxy({ configId: context.newId(), userId }, context.nowMs) : [];
    return {
      changes: [...made, put("settings", withAuthProxyFeature(settings, true, context.nowMs))],
      result: { userId },
    };
  },
});
