import { defineActivity } from "../endpoints/define_activity.ts";
import { featureName, features } from "../fields/features.ts";
import { Type } from "../fields/schema.ts";
import { featuresOf } from "../rules/features.ts";
import { refuseLockOut } from "../rules/quorum.ts";
import { put } from "../state/entities.ts";

/** Switches a feature off. A login that is somebody's only way in stays. */
export const removeOrganizationFeature = defineActivity({
  path: "remove_organization_feature",
  type: "ACTIVITY_TYPE_REMOVE_ORGANIZATION_FEATURE",
  intentKey: "removeOrganizationFeatureIntent",
  resultKey: "removeOrganizationFeatureResult",
  summary: "Switch off a feature of the organization",
  rootQuorumOnly: true,
  params: Type.Object({ name: featureName }),
  result: Type.Object({ features }),
  state: ({ members, settings }) => ({ members, settings }),
  run({ members, settings }, { name }, { nowMs }) {
    const left = settings.features.filter((feature) => feature.name !== name);
    const next = { ...settings, features: left, updatedAtMs: nowMs };
    for (const user of members.users.values()) {
      refuseLockOut(members, { user, settings }, { user, settings: next }, nowMs);
    }
    return { changes: [put("settings", next)], result: { features: featuresOf(next) } };
  },
});
