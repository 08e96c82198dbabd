import { Fault } from "@keystead/core/fault.ts";
import Type from "typebox";
import { defineActivity } from "../endpoints/define_activity.ts";
import { optional } from "../fields/credentials.ts";
import { organizationId } from "../fields/ids.ts";
import { put } from "../state/entities.ts";

/** Deletes the sub-organization it runs in. Its own root users decide, never the parent. */
export const deleteSubOrganization = defineActivity({
  path: "delete_sub_organization",
  type: "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION",
  intentKey: "deleteSubOrganizationIntent",
  resultKey: "deleteSubOrganizationResult",
  summary: "Delete the sub-organization it runs in",
  resource: "ORGANIZATION",
  action: "DELETE",
  rootQuorumOnly: true,
  params: Type.Object({ deleteWithoutExport: optional(Type.Boolean()) }),
  result: Type.Object({ subOrganizationUuid: organizationId }),
  state: ({ settings }) => settings,
  facts: ({ deleteWithoutExport }) => ({ delete_without_export: deleteWithoutExport }),
  run(settings, _params, { organizationId, parentId, nowMs }) {
    if (parentId === undefined) {
      throw new Fault("permission_denied", "this organization is not a sub-organization", {
        errorCode: "INVALID_ACTIVITY_CALLER",
      });
    }
    // No organization holds keys yet, so nothing can be lost that was not exported.
    return {
      changes: [put("settings", { ...settings, deleted: true, updatedAtMs: nowMs })],
      result: { subOrganizationUuid: organizationId },
    };
  },
});
