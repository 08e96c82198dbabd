/** create_api_only_users: create_users with fewer fields, under the same rules. */
import assert from "node:assert/strict";
import { invalid } from "../refusals.ts";
import { badUsers, keyTaken, olderKey, toKeys } from "./create_users.ts";
import { activityEntry, type BadInput } from "./entry.ts";
import { noSuchTag } from "./faults.ts";
import { byId, newTag, type UserParams, userParams } from "./people.ts";

type ApiOnlyUser = Pick<UserParams, "userName" | "userEmail" | "userTags" | "apiKeys">;
type Users = { apiOnlyUsers: ApiOnlyUser[] };

function apiOnlyUser(more: Partial<ApiOnlyUser> = {}): ApiOnlyUser {
  const { userName, userTags } = userParams();
  return { userName, userTags, apiKeys: [olderKey()], ...more };
}

/** What is said about the curve or about other credentials has no place here. */
const shared = ["an empty name", "a name that writes backwards", "no credential", "no e-mail address"];
const bad = badUsers.filter(
  ({ name }) => shared.includes(name) || name.startsWith("a key that") || /^a key for/.test(name),
);

export const createApiOnlyUsers = activityEntry<Users>({
  good: async (fixture) => ({
    apiOnlyUsers: [
      apiOnlyUser({ userEmail: "api@example.com", userTags: [await newTag(fixture)] }),
      apiOnlyUser({ apiKeys: [olderKey(), { ...olderKey(), expirationSeconds: "3600" }] }),
    ],
  }),
  required: [
    "apiOnlyUsers",
    ...["userName", "apiKeys", "userTags"].map((name) => `apiOnlyUsers.0.${name}`),
    ...["apiKeyName", "publicKey"].map((name) => `apiOnlyUsers.0.apiKeys.0.${name}`),
  ],
  result: ({ apiOnlyUsers }, { after }) => ({
    userIds: apiOnlyUsers.map(({ userName }) => byId(after.users, "userName", userName)?.userId),
  }),
  shows({ apiOnlyUsers }, { before, after }) {
    assert.equal(after.users.length, before.users.length + apiOnlyUsers.length);
    for (const sent of apiOnlyUsers) {
      const { userId: _, createdAt, updatedAt, apiKeys, ...user } = byId(after.users, "userName", sent.userName);
      assert.deepEqual(createdAt, updatedAt);
      const { userName, userEmail, userTags } = sent;
      const nothing = { authenticators: [], oauthProviders: [], mfaPolicies: [] };
      assert.deepEqual(user, { userName, ...(userEmail !== undefined && { userEmail }), userTags, ...nothing });
      const names = (keys: readonly object[]) => keys.map((key) => (key as { apiKeyName: string }).apiKeyName).sort();
      assert.deepEqual(names(apiKeys), names(sent.apiKeys));
      assert.ok(toKeys(apiKeys).every(({ curveType }) => curveType === "API_KEY_CURVE_P256"));
    }
  },
  bad: [
    {
      name: "nobody",
      bend: () => ({ apiOnlyUsers: [] }),
      refusal: invalid("invalid request body: field `parameters.apiOnlyUsers` must not have fewer than 1 items"),
    },
    {
      name: "more than a hundred at once",
      bend: () => ({ apiOnlyUsers: Array.from({ length: 101 }, () => apiOnlyUser({ apiKeys: [] })) }),
      refusal: invalid("invalid request body: field `parameters.apiOnlyUsers` must not have more than 100 items"),
    },
    ...bad.map(
      ({ name, more, refusal, kept }): BadInput<Users> => ({
        name,
        bend: ({ apiOnlyUsers }, fixture) => {
          const [, ...others] = apiOnlyUsers;
          return { apiOnlyUsers: [{ ...apiOnlyUser(), ...(more(fixture) as Partial<ApiOnlyUser>) }, ...others] };
        },
        refusal: refusal as BadInput<Users>["refusal"],
        ...(kept && { kept: "FAILED" }),
      }),
    ),
    {
      name: "a member's key",
      bend: (_, { place }) => ({
        apiOnlyUsers: [apiOnlyUser({ apiKeys: [{ ...olderKey(), publicKey: place.member.p256.publicKey }] })],
      }),
      refusal: (_, { place }) => keyTaken(place.member.p256),
      kept: "FAILED",
    },
  ],
  foreign: [
    {
      name: "a tag",
      bend: (_, { userTagId }) => ({ apiOnlyUsers: [apiOnlyUser({ userTags: [userTagId] })] }),
      refusal: noSuchTag,
    },
  ],
});
