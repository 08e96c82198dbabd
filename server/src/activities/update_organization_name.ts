import { defineActivity } from "../endpoints/define_activity.ts";
import { organizationId } from "../fields/ids.ts";
import { name } from "../fields/names.ts";
import { Type } from "../fields/schema.ts";
import { put } from "../state/entities.ts";

const organizationName = name("Human-readable name of the organization.");

export const updateOrganizationName = defineActivity({
  path: "update_organization_name",
  type: "ACTIVITY_TYPE_UPDATE_ORGANIZATION_NAME",
  intentKey: "updateOrganizationNameIntent",
  resultKey: "updateOrganizationNameResult",
  summary: "Rename an organization",
  rootQuorumOnly: true,
  params: Type.Object({ organizationName }),
  result: Type.Object({ organizationId, organizationName }),
  state: ({ settings }) => settings,
  run: (settings, params, context) => ({
    changes: [put("settings", { ...settings, organizationName: params.organizationName, updatedAtMs: context.nowMs })],
    result: { organizationId: context.organizationId, organizationName: params.organizationName },
  }),
});
