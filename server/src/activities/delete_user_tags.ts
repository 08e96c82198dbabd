import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { put, remove } from "../state/entities.ts";
import { getUserTag } from "../state/members.ts";

/** Deletes tags and takes them off every user that carries them: all of them, or none. */
export const deleteUserTags = defineActivity({
  path: "delete_user_tags",
  type: "ACTIVITY_TYPE_DELETE_USER_TAGS",
  intentKey: "deleteUserTagsIntent",
  resultKey: "deleteUserTagsResult",
  summary: "Delete user tags and take them off their users",
  params: Type.Object({ userTagIds: Type.Array(id, { minItems: 1, maxItems: 1_000 }) }),
  result: Type.Object({ userTagIds: ids, userIds: ids }),
  cost: ({ userTagIds }) => userTagIds.length * unitCosts.entry,
  state: ({ members }) => members,
  run(members, { userTagIds }, { organizationId, nowMs }) {
    const doomed = new Set(userTagIds);
    for (const tagId of doomed) getUserTag(members, organizationId, tagId);
    const carriers = [...members.users.values()].filter((user) => user.userTags.some((tagId) => doomed.has(tagId)));
    return {
      changes: [
        ...[...doomed].map((tagId) => remove("userTag", tagId)),
        ...carriers.map((user) =>
          put("user", { ...user, userTags: user.userTags.filter((tagId) => !doomed.has(tagId)), updatedAtMs: nowMs }),
        ),
      ],
      result: { userTagIds: [...doomed], userIds: carriers.map((user) => user.userId) },
    };
  },
});
