import { costOfText, unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { optional } from "../fields/credentials.ts";
import { type FeatureName, featureName, features } from "../fields/features.ts";
import { Type } from "../fields/schema.ts";
import { originsFeature, originsFeatureOf, splitOrigins } from "../rules/allowed_origins.ts";
import { authProxyFeature, getAuthProxy } from "../rules/auth_proxy.ts";
import { featuresOf } from "../rules/features.ts";
import { quorumAccess, refuseShutOut } from "../rules/quorum_origins.ts";
import { type Feature, put, type Settings } from "../state/entities.ts";

/** Switches a feature on, or changes its value. */
export const setOrganizationFeature = defineActivity({
  path: "set_organization_feature",
  type: "ACTIVITY_TYPE_SET_ORGANIZATION_FEATURE",
  intentKey: "setOrganizationFeatureIntent",
  resultKey: "setOrganizationFeatureResult",
  summary: "Switch on a feature of the organization",
  rootQuorumOnly: true,
  params: Type.Object({ name: featureName, value: optional(Type.String({ maxLength: 10_000 })) }),
  result: Type.Object({ features }),
  cost: ({ value }) => costOfText(value?.length ?? 0, unitCosts.kilobyte),
  state: ({ members, settings, authProxies }) => ({ members, settings, authProxies }),
  run({ members, settings, authProxies }, { name, value }, context) {
    // On without a configuration it would say that strangers may sign up, and nobody could.
    if (name === authProxyFeature) getAuthProxy({ authProxies });
    const others = settings.features.filter((feature) => feature.name !== name);
    const all = [...others, featureOf(name, value ?? "")];
    const next = { ...settings, features: all, updatedAtMs: context.nowMs };
    if (name === originsFeature) {
      const under = (each: Settings) => quorumAccess(members, () => context.allowedOrigins(each));
      refuseShutOut(context, under(settings), under(next));
    }
    return { changes: [put("settings", next)], result: { features: featuresOf(next) } };
  },
});

/** A list of origins is checked as `update_allowed_origins` checks it: it is the same list. */
function featureOf(name: FeatureName, value: string): Feature {
  if (name === originsFeature) return originsFeatureOf(splitOrigins(value));
  return value === "" ? { name } : { name, value };
}
