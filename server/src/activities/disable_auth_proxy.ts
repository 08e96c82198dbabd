import { defineActivity } from "../endpoints/define_activity.ts";
import { Type } from "../fields/schema.ts";
import { getAuthProxy, withAuthProxyFeature } from "../rules/auth_proxy.ts";
import { put } from "../state/entities.ts";

/** Turns the auth proxy off. Its configuration and its user stay; sessions that it has made go on until they end. */
export const disableAuthProxy = defineActivity({
  path: "disable_auth_proxy",
  type: "ACTIVITY_TYPE_DISABLE_AUTH_PROXY",
  intentKey: "disableAuthProxyIntent",
  resultKey: "disableAuthProxyResult",
  summary: "Turn the auth proxy off",
  params: Type.Object({}),
  result: Type.Object({}),
  state: ({ settings, authProxies }) => ({ settings, authProxies }),
  run({ settings, authProxies }, _params, { nowMs }) {
    getAuthProxy({ authProxies });
    return { changes: [put("settings", withAuthProxyFeature(settings, false, nowMs))], result: {} };
  },
});
