import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { quorumUsersMissing } from "../rules/quorum.ts";
import { remove } from "../state/entities.ts";
import { getUser } from "../state/members.ts";

/** Deletes users with their credentials: all of them, or none. Members of the root quorum leave it first. */
export const deleteUsers = defineActivity({
  path: "delete_users",
  type: "ACTIVITY_TYPE_DELETE_USERS",
  intentKey: "deleteUsersIntent",
  resultKey: "deleteUsersResult",
  summary: "Delete users of an organization",
  params: Type.Object({ userIds: Type.Array(id, { minItems: 1, maxItems: 1_000 }) }),
  result: Type.Object({ userIds: ids }),
  mayEndCaller: true,
  cost: ({ userIds }) => userIds.length * unitCosts.entry,
  state: ({ members }) => members,
  run(members, { userIds }, { organizationId }) {
    const doomed = new Set(userIds);
    for (const userId of doomed) getUser(members, organizationId, userId);
    const member = members.rootQuorum.userIds.find((userId) => doomed.has(userId));
    if (member !== undefined) {
      throw quorumUsersMissing(`user \`${member}\` is in the root quorum; take it out with update_root_quorum first`);
    }
    return { changes: [...doomed].map((userId) => remove("user", userId)), result: { userIds: [...doomed] } };
  },
});
