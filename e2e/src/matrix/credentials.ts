/** create_api_keys, delete_api_keys. */
import assert from "node:assert/strict";
import { exhausted, invalid, notFound } from "../refusals.ts";
import { badUsers, keyTaken, olderKey, sortedKeys, toKeys } from "./create_users.ts";
import { activityEntry } from "./entry.ts";
import { noSuchUser } from "./faults.ts";
import type { Fixture, Json } from "./fixture.ts";
import { byId, expiringKey, type KeyParams, keyParams, newMailUser, newUser } from "./people.ts";

type Keys = { apiKeys: KeyParams[]; userId: string };

async function keysOf(fixture: Fixture, userId: string): Promise<Json[]> {
  return (await fixture.ask("get_api_keys", { userId })).apiKeys;
}

export const createApiKeys = activityEntry<Keys>({
  good: async (fixture) => ({
    apiKeys: [keyParams(), keyParams("API_KEY_CURVE_SECP256K1"), keyParams("API_KEY_CURVE_ED25519"), expiringKey()],
    userId: await newUser(fixture),
  }),
  required: ["apiKeys", "userId", ...["apiKeyName", "publicKey", "curveType"].map((name) => `apiKeys.0.${name}`)],
  result: ({ apiKeys, userId }, { after }) => ({
    apiKeyIds: apiKeys.map(
      ({ apiKeyName }) => byId(byId(after.users, "userId", userId).apiKeys, "apiKeyName", apiKeyName)?.apiKeyId,
    ),
  }),
  shows({ apiKeys, userId }, { before, after }) {
    const keys = (users: Json[]) => toKeys(byId(users, "userId", userId).apiKeys);
    assert.deepEqual(keys(after.users), sortedKeys([...keys(before.users), ...apiKeys]));
  },
  bad: [
    {
      name: "no key",
      bend: (good) => ({ ...good, apiKeys: [] }),
      refusal: invalid("invalid request body: field `parameters.apiKeys` must not have fewer than 1 items"),
    },
    // What is wrong with a new user's keys is wrong with an old one's.
    ...badUsers
      .filter(({ name, kept }) => kept && /\bkeys?\b/.test(name) && !name.startsWith("a passkey"))
      .map(({ name, more, refusal }) => ({
        name,
        bend: (good: Keys, fixture: Fixture) => ({ ...good, apiKeys: more(fixture).apiKeys }),
        refusal: typeof refusal === "function" ? (sent: Json) => refusal(sent) : refusal,
        kept: "FAILED" as const,
      })),
    {
      name: "a member's key",
      bend: (good, { place }) => ({ ...good, apiKeys: [{ ...keyParams(), publicKey: place.member.p256.publicKey }] }),
      refusal: (_, { place }) => keyTaken(place.member.p256),
      kept: "FAILED",
    },
    {
      name: "an eleventh key that lasts",
      bend: async (good, fixture) => {
        const userId = await newUser(fixture, { apiKeys: Array.from({ length: 10 }, () => keyParams()) });
        return { ...good, userId, apiKeys: [keyParams()] };
      },
      refusal: exhausted(
        "user has exceeded maximum long-lived api keys: delete one with delete_api_keys, or set expirationSeconds for the new one",
      ),
      kept: "FAILED",
    },
  ],
  foreign: [{ name: "a user", bend: (good, { userId }) => ({ ...good, userId }), refusal: noSuchUser }],
  own: ({ place }) => ({ apiKeys: [keyParams()], userId: place.member.userId }),
  versions: {
    ACTIVITY_TYPE_CREATE_API_KEYS: async (fixture) => ({ apiKeys: [olderKey()], userId: await newUser(fixture) }),
  },
  also: {
    "an eleventh key that expires takes the place of the oldest": async (fixture) => {
      const userId = await newUser(fixture);
      const made: string[] = [];
      for (let i = 0; i < 11; i++) {
        const { apiKeyIds } = await fixture.done("create_api_keys", { userId, apiKeys: [expiringKey()] });
        made.push(...apiKeyIds);
      }
      const [lasting, ...others] = (await keysOf(fixture, userId)).toSorted((one) => (one.expirationSeconds ? 1 : -1));
      assert.equal(lasting.expirationSeconds, undefined);
      assert.deepEqual(others.map(({ apiKeyId }) => apiKeyId).sort(), made.slice(1).sort());
    },
  },
});

export const deleteApiKeys = activityEntry<{ userId: string; apiKeyIds: string[] }>({
  good: async (fixture) => {
    const userId = await newUser(fixture, { apiKeys: [keyParams(), keyParams(), keyParams()] });
    const [one, other] = await keysOf(fixture, userId);
    return { userId, apiKeyIds: [one.apiKeyId, other.apiKeyId] };
  },
  required: ["userId", "apiKeyIds"],
  result: ({ apiKeyIds }) => ({ apiKeyIds }),
  shows({ userId, apiKeyIds }, { before, after }) {
    const keys = (users: Json[]) => byId(users, "userId", userId).apiKeys;
    assert.deepEqual(
      keys(after.users),
      keys(before.users).filter(({ apiKeyId }: Json) => !apiKeyIds.includes(apiKeyId)),
    );
  },
  bad: [
    {
      name: "no key",
      bend: (good) => ({ ...good, apiKeyIds: [] }),
      refusal: invalid("invalid request body: field `parameters.apiKeyIds` must not have fewer than 1 items"),
    },
    {
      name: "the last credential",
      bend: async ({ userId }, fixture) => ({
        userId,
        apiKeyIds: (await keysOf(fixture, userId)).map((key) => key.apiKeyId),
      }),
      refusal: ({ userId }) =>
        invalid(
          `user missing valid credential: ${userId}; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does`,
        ),
      kept: "FAILED",
    },
    {
      name: "the last lasting credential of a root user",
      bend: async (_, fixture) => {
        const { userId, apiKeyIds } = fixture.place.deputy;
        await fixture.done("create_api_keys", { userId, apiKeys: [expiringKey()] });
        return { userId, apiKeyIds };
      },
      refusal: (_, { place }) =>
        invalid(
          `user missing valid credential: ${place.deputy.userId}; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does`,
        ),
      kept: "FAILED",
    },
    {
      name: "another user's key",
      bend: ({ userId, apiKeyIds: [one] }, { place }) => ({ userId, apiKeyIds: [one, place.member.apiKeyIds[0]] }),
      refusal: ({ userId, apiKeyIds }) => notFound(`unable to find api key ${apiKeyIds[1]} of user ${userId}`),
      kept: "FAILED",
    },
  ],
  foreign: [
    { name: "a user", bend: (good, { userId }) => ({ ...good, userId }), refusal: noSuchUser },
    {
      name: "a key",
      bend: (_, { apiKeyId }) => ({ userId: apiKeyId, apiKeyIds: [apiKeyId] }),
      refusal: ({ apiKeyId }, place) => noSuchUser({ userId: apiKeyId }, place),
    },
  ],
  own: async (fixture) => {
    const { userId } = fixture.place.member;
    const { apiKeyIds } = await fixture.done("create_api_keys", { userId, apiKeys: [keyParams()] });
    return { userId, apiKeyIds };
  },
  also: {
    "an e-mail address that lets its user in is credential enough": async (fixture) => {
      const userId = await newMailUser(fixture);
      const { apiKeyIds } = await fixture.done("create_api_keys", { userId, apiKeys: [keyParams()] });
      await fixture.done("delete_api_keys", { userId, apiKeyIds });
      assert.deepEqual(await keysOf(fixture, userId), []);
    },
    "a deleted key opens nothing": async (fixture) => {
      const { member, organizationId } = fixture.place;
      await fixture.done("delete_api_keys", { userId: member.userId, apiKeyIds: [member.apiKeyIds[0]] });
      const body = { organizationId };
      const answer = await fixture.send({ kind: "query", path: "whoami", body, key: member.p256 });
      assert.equal(answer.json.errorCode, "PUBLIC_KEY_NOT_FOUND");
    },
  },
});
