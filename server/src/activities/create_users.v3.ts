/** Older forms of `create_users`: before OIDC claims (V3), before curves and phone numbers (V2), before that (V1). */
import { defineVersion } from "../endpoints/define_activity.ts";
import { optionalEmail, optionalPhoneNumber } from "../fields/contacts.ts";
import {
  apiKeys,
  apiKeysV1,
  authenticators,
  authenticatorsV1,
  fromApiKeyV1,
  fromAuthenticatorV1,
  fromOauthProviderV1,
  oauthProvidersV1,
} from "../fields/credentials.ts";
import { ids } from "../fields/ids.ts";
import { knownFields } from "../fields/known_fields.ts";
import { name } from "../fields/names.ts";
import type { CreateUsersParams } from "../fields/new_users.ts";
import { type Static, Type } from "../fields/schema.ts";

type UserParams = CreateUsersParams["users"][number];

const people = { userName: name("Human-readable name of the user."), userEmail: optionalEmail, userTags: ids };

const userV3 = Type.Object({
  ...people,
  userPhoneNumber: optionalPhoneNumber,
  apiKeys,
  authenticators,
  oauthProviders: oauthProvidersV1,
});
const userV2 = Type.Object({ ...people, apiKeys: apiKeysV1, authenticators });
const userV1 = Type.Object({
  ...people,
  accessType: Type.Enum(["ACCESS_TYPE_WEB", "ACCESS_TYPE_API", "ACCESS_TYPE_ALL"]),
  apiKeys: apiKeysV1,
  authenticators: authenticatorsV1,
});

function fromUserV3(user: Static<typeof userV3>): UserParams {
  return { ...knownFields(userV3, user), oauthProviders: user.oauthProviders.map(fromOauthProviderV1) };
}

function fromUserV2(user: Static<typeof userV2>): UserParams {
  return { ...knownFields(userV2, user), apiKeys: user.apiKeys.map(fromApiKeyV1), oauthProviders: [] };
}

/** `accessType` said how a user may sign in; today that follows from its credentials, so it is read and left aside. */
function fromUserV1(user: Static<typeof userV1>): UserParams {
  return fromUserV2({ ...user, authenticators: user.authenticators.map(fromAuthenticatorV1) });
}

const some = { minItems: 1, maxItems: 100 };

const v3 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_USERS_V3",
  intentKey: "createUsersIntentV3",
  resultKey: "createUsersResult",
  params: Type.Object({ users: Type.Array(userV3, some) }),
  translate: ({ users }): CreateUsersParams => ({ users: users.map(fromUserV3) }),
});

const v2 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_USERS_V2",
  intentKey: "createUsersIntentV2",
  resultKey: "createUsersResult",
  params: Type.Object({ users: Type.Array(userV2, some) }),
  translate: ({ users }): CreateUsersParams => ({ users: users.map(fromUserV2) }),
});

const v1 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_USERS",
  intentKey: "createUsersIntent",
  resultKey: "createUsersResult",
  params: Type.Object({ users: Type.Array(userV1, some) }),
  translate: ({ users }): CreateUsersParams => ({ users: users.map(fromUserV1) }),
});

export const createUsersVersions = [v3, v2, v1];
