import { costOfText, unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { type AuthProxyConfigParams, authProxyConfigParams } from "../fields/auth_proxy.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { getAuthProxy } from "../rules/auth_proxy.ts";
import { changedProxySettings } from "../rules/auth_proxy_settings.ts";
import { put } from "../state/entities.ts";

/** Changes how the auth proxy lets users sign up and in. What is left out stays as it is. */
export const updateAuthProxyConfig = defineActivity({
  path: "update_auth_proxy_config",
  type: "ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG",
  intentKey: "updateAuthProxyConfigIntent",
  resultKey: "updateAuthProxyConfigResult",
  summary: "Configure the auth proxy",
  params: authProxyConfigParams,
  result: Type.Object({ configId: id }),
  cost: (params) => costOfText(JSON.stringify(params).length, unitCosts.kilobyte),
  state: ({ settings, authProxies }) => ({ settings, authProxies }),
  run({ settings, authProxies }, params: AuthProxyConfigParams, { limits, hasCaptcha = false, identities, nowMs }) {
    const proxy = getAuthProxy({ authProxies });
    const { organizationName } = settings;
    const { linkingIssuers } = identities;
    const facts = { limits, hasCaptcha, organizationName, linkingIssuers };
    const changed = changedProxySettings(proxy.settings, params, facts);
    return {
      changes: [put("authProxy", { ...proxy, settings: changed, updatedAtMs: nowMs })],
      result: { configId: proxy.configId },
    };
  },
});
