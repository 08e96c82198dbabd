import { defineActivity } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { name } from "../fields/names.ts";
import { Type } from "../fields/schema.ts";
import { changedUser } from "../rules/users.ts";

export const updateUserName = defineActivity({
  path: "update_user_name",
  type: "ACTIVITY_TYPE_UPDATE_USER_NAME",
  intentKey: "updateUserNameIntent",
  resultKey: "updateUserNameResult",
  summary: "Update a user's name",
  params: Type.Object({ userId: id, userName: name("Human-readable name of the user.") }),
  result: Type.Object({ userId: id }),
  state: ({ members, settings }) => ({ members, settings }),
  run: (state, { userId, userName }, context) => ({
    changes: [changedUser(state, context, userId, { userName })],
    result: { userId },
  }),
});
