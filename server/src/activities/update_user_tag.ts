import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { optional } from "../fields/credentials.ts";
import { id, ids } from "../fields/ids.ts";
import { name } from "../fields/names.ts";
import { Type } from "../fields/schema.ts";
import { refuseTakenTagName } from "../rules/tags.ts";
import { put, type User } from "../state/entities.ts";
import { getUser, getUserTag } from "../state/members.ts";

/** Renames a tag, gives it to users and takes it from others. */
export const updateUserTag = defineActivity({
  path: "update_user_tag",
  type: "ACTIVITY_TYPE_UPDATE_USER_TAG",
  intentKey: "updateUserTagIntent",
  resultKey: "updateUserTagResult",
  summary: "Rename a user tag, or change who carries it",
  params: Type.Object({
    userTagId: id,
    newUserTagName: optional(name("Human-readable name of the tag.")),
    addUserIds: ids,
    removeUserIds: ids,
  }),
  result: Type.Object({ userTagId: id }),
  cost: (params) => (params.addUserIds.length + params.removeUserIds.length) * unitCosts.entry,
  state: ({ members }) => members,
  run(members, { userTagId, newUserTagName, addUserIds, removeUserIds }, { organizationId, nowMs }) {
    const tag = getUserTag(members, organizationId, userTagId);
    if (newUserTagName != null) refuseTakenTagName(members, newUserTagName, userTagId);
    const added = new Set(addUserIds);
    const removed = new Set(removeUserIds);
    const named = [...added.union(removed)].map((userId) => getUser(members, organizationId, userId));
    // Who is named in both lists ends up without the tag: a tag may carry authority.
    const carries = ({ userId }: User) => added.has(userId) && !removed.has(userId);
    const changed = named.filter((user) => user.userTags.includes(userTagId) !== carries(user));
    return {
      changes: [
        put("userTag", { ...tag, ...(newUserTagName != null && { tagName: newUserTagName }), updatedAtMs: nowMs }),
        ...changed.map((user) => {
          const others = user.userTags.filter((tagId) => tagId !== userTagId);
          return put("user", {
            ...user,
            userTags: carries(user) ? [...others, userTagId] : others,
            updatedAtMs: nowMs,
          });
        }),
      ],
      result: { userTagId },
    };
  },
});
