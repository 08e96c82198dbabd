import { Fault } from "@keystead/core/fault.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { optional } from "../fields/credentials.ts";
import { organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { countNotExported } from "../rules/key_counts.ts";
import { put, remove } from "../state/entities.ts";

/** Deletes the sub-organization it runs in, with its keys and the targets of imports that wait. Its own root users decide, never the parent. */
export const deleteSubOrganization = defineActivity({
  path: "delete_sub_organization",
  type: "ACTIVITY_TYPE_DELETE_SUB_ORGANIZATION",
  intentKey: "deleteSubOrganizationIntent",
  resultKey: "deleteSubOrganizationResult",
  summary: "Delete the sub-organization it runs in",
  rootQuorumOnly: true,
  params: Type.Object({
    deleteWithoutExport: optional(Type.Boolean({ description: "Whether to delete keys that nobody has exported." })),
  }),
  result: Type.Object({ subOrganizationUuid: organizationId }),
  state: ({ settings, keyCounts, importTargets }) => ({ settings, keyCounts, importTargets }),
  run({ settings, keyCounts, importTargets }, { deleteWithoutExport }, { organizationId, parentId, nowMs }) {
    if (parentId === undefined) {
      throw new Fault(
        "permission_denied",
        "this organization is not a sub-organization: name the one to delete in organizationId",
        {
          errorCode: "INVALID_ACTIVITY_CALLER",
        },
      );
    }
    const lost = countNotExported(keyCounts);
    if (lost > 0 && deleteWithoutExport !== true) {
      throw new Fault(
        "invalid_argument",
        `wallet account has not been exported: ${lost} of the organization's wallets and private keys would be lost; export them or set deleteWithoutExport`,
        { errorCode: "WALLET_ACCOUNT_NOT_EXPORTED" },
      );
    }
    return {
      changes: [
        ...[...importTargets.keys()].map((targetId) => remove("importTarget", targetId)),
        put("settings", { ...settings, deleted: true, updatedAtMs: nowMs }),
      ],
      result: { subOrganizationUuid: organizationId },
    };
  },
});
