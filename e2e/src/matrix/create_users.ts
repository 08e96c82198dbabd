/** create_users, and what is wrong with a new user wherever one is made. */
import assert from "node:assert/strict";
import { exhausted, invalid } from "../refusals.ts";
import type { Refusal } from "../wire.ts";
import { activityEntry, type BadInput } from "./entry.ts";
import { noSuchTag } from "./faults.ts";
import type { Fixture, Json } from "./fixture.ts";
import { limits } from "./limits.ts";
import {
  authenticator,
  byId,
  expiringKey,
  type KeyParams,
  keyParams,
  newTag,
  newUser,
  oauthProvider,
  type UserParams,
  userParams,
} from "./people.ts";

const someId = "[0-9a-f-]{36}";
const missingCredential = invalid(
  new RegExp(
    `^user missing valid credential: ${someId} \\(\`[^\`]+\`\\); a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does$`,
  ),
);

type Users = { users: UserParams[] };

/** Bad users, as `create_users` and `create_sub_organization` meet them. */
export const badUsers: readonly {
  name: string;
  more: (fixture: Fixture) => Partial<Record<keyof UserParams, unknown>>;
  refusal: Refusal | ((user: UserParams) => Refusal);
  kept: boolean;
}[] = [
  {
    name: "an empty name",
    more: () => ({ userName: "" }),
    refusal: invalid(
      /^invalid request body: field `parameters\.\w+\.0\.userName` must not have fewer than 1 characters$/,
    ),
    kept: false,
  },
  {
    name: "a name that writes backwards",
    more: () => ({ userName: "a\u202eb" }),
    refusal: invalid(
      /^invalid request body: field `parameters\.\w+\.0\.userName` has characters that are not allowed$/,
    ),
    kept: false,
  },
  {
    name: "a curve that is none",
    more: () => ({ apiKeys: [{ ...keyParams(), curveType: "API_KEY_CURVE_P521" }] }),
    refusal: invalid(/^invalid request body: field `parameters\.\w+\.0\.apiKeys\.0\.curveType` must be /),
    kept: false,
  },
  { name: "no credential", more: () => ({ apiKeys: [] }), refusal: missingCredential, kept: true },
  {
    name: "no e-mail address",
    more: () => ({ userEmail: "nobody" }),
    refusal: invalid("invalid email address: `nobody`: write it like name@example.com", "INVALID_EMAIL"),
    kept: true,
  },
  {
    name: "no phone number",
    more: () => ({ userPhoneNumber: "015551234567" }),
    refusal: invalid("invalid phone number: `015551234567` is not in E.164 form, like +15551234567"),
    kept: true,
  },
  ...["0", "-1", "1.5", "soon", ""].map((seconds) => ({
    name: `a key for ${JSON.stringify(seconds)} seconds`,
    more: () => ({ apiKeys: [expiringKey(seconds)] }),
    refusal: invalid(
      "invalid api key expiration: expirationSeconds is a whole number of seconds, at least 1; leave it out for a key that never expires",
    ),
    kept: true,
  })),
  {
    name: "a key that is not hex",
    more: () => ({ apiKeys: [{ ...keyParams(), publicKey: "key" }] }),
    refusal: invalid("malformed public key: not hex"),
    kept: true,
  },
  {
    name: "a key of another curve",
    more: () => ({ apiKeys: [{ ...keyParams("API_KEY_CURVE_ED25519"), curveType: "API_KEY_CURVE_P256" }] }),
    refusal: invalid(/^malformed public key: /),
    kept: true,
  },
  {
    name: "one key twice",
    more: () => {
      const key = keyParams();
      return { apiKeys: [key, { ...key, apiKeyName: "again" }] };
    },
    refusal: ({ apiKeys: [key] }) => keyTaken(key as Json),
    kept: true,
  },
  {
    name: "eleven keys that last",
    more: () => ({ apiKeys: Array.from({ length: 11 }, () => keyParams()) }),
    refusal: exhausted(
      "user has exceeded maximum long-lived api keys: delete one with delete_api_keys, or set expirationSeconds for the new one",
    ),
    kept: true,
  },
  {
    name: "eleven keys that expire",
    more: () => ({ apiKeys: [keyParams(), ...Array.from({ length: 11 }, () => expiringKey())] }),
    refusal: exhausted("user has exceeded maximum short-lived api keys: ask for fewer at once"),
    kept: true,
  },
  {
    name: "a passkey whose registration says nothing",
    more: () => ({ authenticators: [authenticator] }),
    refusal: invalid(/^invalid authenticator attestation: /),
    kept: true,
  },
  {
    name: "an identity whose token is none",
    more: () => ({ oauthProviders: [oauthProvider] }),
    refusal: invalid("invalid OIDC token: its header has no `alg`", "INVALID_OIDC_TOKEN"),
    kept: true,
  },
];

export function keyTaken({ publicKey }: { publicKey: string }): Refusal {
  return {
    status: 409,
    code: 6,
    message: `public key \`${publicKey}\` already belongs to a user of this organization; make another key pair`,
  };
}

export const createUsers = activityEntry<Users>({
  good: async (fixture) => ({
    users: [
      userParams({
        userEmail: "first@example.com",
        userPhoneNumber: "+15551234567",
        apiKeys: [keyParams(), keyParams("API_KEY_CURVE_SECP256K1"), expiringKey()],
        userTags: [await newTag(fixture)],
      }),
      userParams({ apiKeys: [keyParams("API_KEY_CURVE_ED25519")] }),
    ],
  }),
  required: [
    "users",
    ...["userName", "apiKeys", "authenticators", "oauthProviders", "userTags"].map((name) => `users.0.${name}`),
    ...["apiKeyName", "publicKey", "curveType"].map((name) => `users.0.apiKeys.0.${name}`),
  ],
  result: ({ users }, { after }) => ({
    userIds: users.map(({ userName }) => byId(after.users, "userName", userName)?.userId),
  }),
  shows({ users }, { before, after }) {
    assert.equal(after.users.length, before.users.length + users.length);
    for (const sent of users) {
      const { userId: _, createdAt, updatedAt, apiKeys, ...user } = byId(after.users, "userName", sent.userName);
      assert.deepEqual(createdAt, updatedAt);
      const { userName, userEmail, userPhoneNumber, userTags } = sent;
      assert.deepEqual(user, {
        userName,
        ...(userEmail !== undefined && { userEmail }),
        ...(userPhoneNumber !== undefined && { userPhoneNumber }),
        userTags,
        authenticators: [],
        oauthProviders: [],
        mfaPolicies: [],
      });
      assert.deepEqual(toKeys(apiKeys), sortedKeys(sent.apiKeys as KeyParams[]));
    }
  },
  bad: [
    {
      name: "nobody",
      bend: () => ({ users: [] }),
      refusal: invalid("invalid request body: field `parameters.users` must not have fewer than 1 items"),
    },
    {
      name: "more than a hundred at once",
      bend: () => ({ users: Array.from({ length: 101 }, () => userParams({ apiKeys: [] })) }),
      refusal: invalid("invalid request body: field `parameters.users` must not have more than 100 items"),
    },
    ...badUsers.map(
      ({ name, more, refusal, kept }): BadInput<Users> => ({
        name,
        // The good one beside it is not created either.
        bend: ({ users }, fixture) => ({ users: [{ ...userParams(), ...more(fixture) }, ...users.slice(1)] }),
        refusal: typeof refusal === "function" ? ({ users }) => refusal(users[0]) : refusal,
        ...(kept && { kept: "FAILED" }),
      }),
    ),
    {
      name: "an e-mail address while no login takes one",
      bend: () => ({
        users: [userParams({ apiKeys: [], userEmail: "mail@example.com", userPhoneNumber: "+15551234567" })],
      }),
      refusal: missingCredential,
      kept: "FAILED",
    },
    {
      name: "a member's key",
      bend: (_, { place }) => ({
        users: [userParams({ apiKeys: [{ ...keyParams(), publicKey: place.member.p256.publicKey }] })],
      }),
      refusal: (_, { place }) => keyTaken(place.member.p256),
      kept: "FAILED",
    },
    {
      name: "more keys than one activity makes",
      bend: () => ({
        users: [1, 2, 3].map(() => userParams({ apiKeys: Array.from({ length: 67 }, () => keyParams()) })),
      }),
      refusal: invalid("one activity may create at most 200 api keys, and this one asks for 201"),
      kept: "FAILED",
    },
    {
      name: "more users than fit",
      bend: () => ({ users: Array.from({ length: limits.usersPerOrganization }, () => userParams({ apiKeys: [] })) }),
      refusal: exhausted(new RegExp(`^organization has reached its limit of ${limits.usersPerOrganization} users; `)),
      kept: "FAILED",
    },
  ],
  foreign: [
    {
      name: "a tag",
      bend: (_, { userTagId }) => ({ users: [userParams({ userTags: [userTagId] })] }),
      refusal: noSuchTag,
    },
  ],
  versions: {
    ACTIVITY_TYPE_CREATE_USERS_V3: () => ({ users: [userParams({ userPhoneNumber: "+15551234567" })] }),
    ACTIVITY_TYPE_CREATE_USERS_V2: () => ({ users: [olderUser()] }),
    ACTIVITY_TYPE_CREATE_USERS: () => ({ users: [{ ...olderUser(), accessType: "ACCESS_TYPE_API" }] }),
  },
  also: {
    "a contact is a credential once its login is on": async (fixture) => {
      const mail = { apiKeys: [], userEmail: "mail@example.com" };
      const phone = { apiKeys: [], userPhoneNumber: "+15551234567" };
      for (const [feature, contact] of [
        ["FEATURE_NAME_EMAIL_AUTH", mail],
        ["FEATURE_NAME_OTP_EMAIL_AUTH", mail],
        ["FEATURE_NAME_SMS_AUTH", phone],
      ] as const) {
        const refused = await fixture.submit("create_users", { users: [userParams(contact)] });
        assert.match(refused.json.message, /^user missing valid credential: /);
        await fixture.done("set_organization_feature", { name: feature, value: "" });
        const userId = await newUser(fixture, contact);
        await fixture.done("delete_users", { userIds: [userId] });
        await fixture.done("remove_organization_feature", { name: feature });
      }
    },
  },
});

/** Before keys had curves. */
function olderUser() {
  const { oauthProviders: _, ...user } = userParams();
  return { ...user, apiKeys: [olderKey()] };
}

export function olderKey() {
  const { curveType: _, ...key } = keyParams();
  return key;
}

/** A user's keys in the form they were asked for; they are listed in no particular order. */
export function toKeys(apiKeys: readonly Json[]): KeyParams[] {
  return sortedKeys(apiKeys.map(toKeyParams));
}

export function sortedKeys(keys: readonly KeyParams[]): KeyParams[] {
  return keys.toSorted((one, other) => (one.publicKey < other.publicKey ? -1 : 1));
}

function toKeyParams({ apiKeyName, credential, expirationSeconds }: Json) {
  const curveType = credential.type.replace("CREDENTIAL_TYPE_API_KEY_", "API_KEY_CURVE_");
  return {
    apiKeyName,
    publicKey: credential.publicKey,
    curveType,
    ...(expirationSeconds !== undefined && { expirationSeconds }),
  };
}
