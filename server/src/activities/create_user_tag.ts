import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { checkLimit } from "../endpoints/limits.ts";
import { id, ids } from "../fields/ids.ts";
import { name } from "../fields/names.ts";
import { Type } from "../fields/schema.ts";
import { refuseTakenTagName } from "../rules/tags.ts";
import { put } from "../state/entities.ts";
import { getUser } from "../state/members.ts";

/** Creates a tag and gives it to users. Policies name tags by id, so a tag's name carries no authority. */
export const createUserTag = defineActivity({
  path: "create_user_tag",
  type: "ACTIVITY_TYPE_CREATE_USER_TAG",
  intentKey: "createUserTagIntent",
  resultKey: "createUserTagResult",
  summary: "Create a user tag and add it to users",
  params: Type.Object({ userTagName: name("Human-readable name of the tag."), userIds: ids }),
  result: Type.Object({ userTagId: id, userIds: ids }),
  cost: ({ userIds }) => userIds.length * unitCosts.entry,
  state: ({ members }) => members,
  run(members, { userTagName, userIds }, context) {
    const { organizationId, nowMs } = context;
    checkLimit("userTags", members.userTags.size + 1, context);
    refuseTakenTagName(members, userTagName);
    const tag = { tagId: context.newId(), tagName: userTagName, createdAtMs: nowMs, updatedAtMs: nowMs };
    const users = [...new Set(userIds)].map((userId) => getUser(members, organizationId, userId));
    return {
      changes: [
        put("userTag", tag),
        ...users.map((user) => put("user", { ...user, userTags: [...user.userTags, tag.tagId], updatedAtMs: nowMs })),
      ],
      result: { userTagId: tag.tagId, userIds: users.map((user) => user.userId) },
    };
  },
});
