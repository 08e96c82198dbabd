import { costOfUsers } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { optionalEmail } from "../fields/contacts.ts";
import { apiKeysV1, fromApiKeyV1 } from "../fields/credentials.ts";
import { ids } from "../fields/ids.ts";
import { name } from "../fields/names.ts";
import { Type } from "../fields/schema.ts";
import { createUsersIn } from "../rules/users.ts";

/** Creates users who sign in with P-256 API keys alone. Older than `create_users`, and under the same rules. */
export const createApiOnlyUsers = defineActivity({
  path: "create_api_only_users",
  type: "ACTIVITY_TYPE_CREATE_API_ONLY_USERS",
  intentKey: "createApiOnlyUsersIntent",
  resultKey: "createApiOnlyUsersResult",
  summary: "Create users with API keys in an organization",
  params: Type.Object({
    apiOnlyUsers: Type.Array(
      Type.Object({
        userName: name("Human-readable name of the user."),
        userEmail: optionalEmail,
        userTags: ids,
        apiKeys: apiKeysV1,
      }),
      { minItems: 1, maxItems: 100 },
    ),
  }),
  result: Type.Object({ userIds: ids }),
  cost: ({ apiOnlyUsers }) => costOfUsers(apiOnlyUsers),
  state: ({ members, settings }) => ({ members, settings }),
  run(state, { apiOnlyUsers }, context) {
    const users = apiOnlyUsers.map(({ userName, userEmail, userTags, apiKeys }) => ({
      ...{ userName, userTags, apiKeys: apiKeys.map(fromApiKeyV1), authenticators: [], oauthProviders: [] },
      ...(userEmail != null && { userEmail }),
    }));
    return createUsersIn(state, users, context);
  },
});
