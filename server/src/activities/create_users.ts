import { costOfUsers } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { ids } from "../fields/ids.ts";
import { createUsersParams } from "../fields/new_users.ts";
import { Type } from "../fields/schema.ts";
import { createUsersIn } from "../rules/users.ts";
import { createUsersVersions } from "./create_users.v3.ts";

/** Creates users with their credentials: all of them, or none. Each must be able to sign in. */
export const createUsers = defineActivity({
  path: "create_users",
  type: "ACTIVITY_TYPE_CREATE_USERS_V4",
  intentKey: "createUsersIntentV4",
  resultKey: "createUsersResult",
  summary: "Create users in an organization",
  params: createUsersParams,
  result: Type.Object({ userIds: ids }),
  versions: createUsersVersions,
  bearerParams: { "users[].oauthProviders[].oidcToken": "identityToken" },
  cost: ({ users }) => costOfUsers(users),
  state: ({ members, settings }) => ({ members, settings }),
  run: (state, { users }, context) => createUsersIn(state, users, context),
});
