import { costOfText, unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { optional } from "../fields/credentials.ts";
import { type FeatureName, featureName, features } from "../fields/features.ts";
import { Type } from "../fields/schema.ts";
import { originsFeature, originsFeatureOf, refuseEmptyList, splitOrigins } from "../rules/allowed_origins.ts";
import { featuresOf } from "../rules/features.ts";
import { type Feature, put } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";

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
  state: ({ members, settings }) => ({ members, settings }),
  run({ members, settings }, { name, value }, { nowMs }) {
    const others = settings.features.filter((feature) => feature.name !== name);
    const all = [...others, featureOf(members, name, value ?? "")];
    const next = { ...settings, features: all, updatedAtMs: nowMs };
    return { changes: [put("settings", next)], result: { features: featuresOf(next) } };
  },
});

/** A list of origins is checked as `update_allowed_origins` checks it: it is the same list. */
function featureOf(members: MembersPage, name: FeatureName, value: string): Feature {
  if (name === originsFeature) {
    const origins = splitOrigins(value);
    refuseEmptyList(members, origins);
    return originsFeatureOf(origins);
  }
  return value === "" ? { name } : { name, value };
}
