import { costOfUsers } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { optionalEmail, optionalPhoneNumber } from "../fields/contacts.ts";
import { apiKeys, authenticators, oauthProviders } from "../fields/credentials.ts";
import { ids } from "../fields/ids.ts";
import { name } from "../fields/names.ts";
import { type Static, Type } from "../fields/schema.ts";
import { createUsersIn } from "../rules/users.ts";
import { createUsersVersions } from "./create_users.v3.ts";

const params = Type.Object({
  users: Type.Array(
    Type.Object({
      userName: name("Human-readable name of the user."),
      userEmail: optionalEmail,
      userPhoneNumber: optionalPhoneNumber,
      apiKeys,
      authenticators,
      oauthProviders,
      userTags: ids,
    }),
    { minItems: 1, maxItems: 100 },
  ),
});

export type CreateUsersParams = Static<typeof params>;

/** Creates users with their credentials: all of them, or none. Each must be able to sign in. */
export const createUsers = defineActivity({
  path: "create_users",
  type: "ACTIVITY_TYPE_CREATE_USERS_V4",
  intentKey: "createUsersIntentV4",
  resultKey: "createUsersResult",
  summary: "Create users in an organization",
  params,
  result: Type.Object({ userIds: ids }),
  versions: createUsersVersions,
  cost: ({ users }) => costOfUsers(users),
  state: ({ members, settings }) => ({ members, settings }),
  run: (state, { users }, context) => createUsersIn(state, users, context),
});
