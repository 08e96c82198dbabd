import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { optionalEmail, optionalPhoneNumber } from "../fields/contacts.ts";
import { optional } from "../fields/credentials.ts";
import { id, ids } from "../fields/ids.ts";
import { name } from "../fields/names.ts";
import { Type } from "../fields/schema.ts";
import { changedUser } from "../rules/users.ts";
import { getUserTag } from "../state/members.ts";

/** Changes what is given of a user and leaves the rest; `userTagIds` replaces the whole set. */
export const updateUser = defineActivity({
  path: "update_user",
  type: "ACTIVITY_TYPE_UPDATE_USER",
  intentKey: "updateUserIntent",
  resultKey: "updateUserResult",
  summary: "Update a user's name, contacts or tags",
  params: Type.Object({
    userId: id,
    userName: optional(name("Human-readable name of the user.")),
    userEmail: optionalEmail,
    userTagIds: optional(ids),
    userPhoneNumber: optionalPhoneNumber,
  }),
  result: Type.Object({ userId: id }),
  cost: ({ userTagIds }) => (userTagIds?.length ?? 0) * unitCosts.entry,
  state: ({ members, settings }) => ({ members, settings }),
  run({ members, settings }, { userId, userName, userEmail, userTagIds, userPhoneNumber }, context) {
    for (const tagId of userTagIds ?? []) getUserTag(members, context.organizationId, tagId);
    const change = changedUser({ members, settings }, context, userId, {
      ...(userName != null && { userName }),
      ...(userTagIds != null && { userTags: [...new Set(userTagIds)] }),
      ...(userEmail != null && { userEmail }),
      ...(userPhoneNumber != null && { userPhoneNumber }),
    });
    return { changes: [change], result: { userId } };
  },
});
