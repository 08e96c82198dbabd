/** The queries without pages. Each reads what activities have made. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { notFound } from "../refusals.ts";
import { assertAccepted } from "../wire.ts";
import type { Person } from "../world.ts";
import { type QueryEntry, queryEntry } from "./entry.ts";
import { noSuchUser } from "./faults.ts";
import type { Fixture, Json } from "./fixture.ts";
import { expiringKey, keyParams, userParams } from "./people.ts";
import type { Place } from "./stage.ts";

export const whoami: QueryEntry = {
  good: () => ({}),
  required: [],
  answer: (_, answer, fixture, caller) => {
    const { organizationId, organizationName } = homeOf(fixture, caller);
    assert.deepEqual(answer, { organizationId, organizationName, userId: caller.userId, username: caller.userName });
  },
  bad: [],
  foreign: [],
  isAboutCaller: true,
};

function homeOf({ parent, sub }: Fixture, { organizationId }: Person): Place {
  return organizationId === sub.organizationId ? sub : parent;
}

/** A user with everything a user can have. */
async function fullUser(fixture: Fixture, place: Place): Promise<string> {
  const { userTagId } = await fixture.done(
    "create_user_tag",
    { userTagName: randomUUID(), userIds: [] },
    place.root,
    place,
  );
  const users = [
    userParams({
      userEmail: "full@example.com",
      userPhoneNumber: "+15551234567",
      apiKeys: [keyParams(), expiringKey("86400"), keyParams("API_KEY_CURVE_ED25519")],
      userTags: [userTagId],
    }),
  ];
  return (await fixture.done("create_users", { users }, place.root, place)).userIds[0];
}

/** A person of the stage, as the record of a user shows it. */
function checkPerson(user: Json, { userId, userName, p256, secp256k1, ed25519, apiKeyIds }: Person): void {
  assert.equal(user.userId, userId);
  assert.equal(user.userName, userName);
  const types = ["P256", "SECP256K1", "ED25519"].map((curve) => `CREDENTIAL_TYPE_API_KEY_${curve}`);
  const keys = [p256, secp256k1, ed25519].map(({ publicKey }, index) => {
    return { apiKeyId: apiKeyIds[index], credential: { publicKey, type: types[index] } };
  });
  const shown = user.apiKeys.map(({ apiKeyId, credential }: Json) => ({ apiKeyId, credential }));
  const byId = (one: Json, other: Json) => (one.apiKeyId < other.apiKeyId ? -1 : 1);
  assert.deepEqual(shown.toSorted(byId), keys.toSorted(byId));
}

export const getUser = queryEntry<{ userId: string }>({
  good: async (fixture, place) => ({ userId: await fullUser(fixture, place) }),
  required: ["userId"],
  answer: async ({ userId }, { user, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    const { users } = await fixture.ask("list_users");
    assert.deepEqual(
      user,
      users.find((each: Json) => each.userId === userId),
    );
    assert.equal(user.userEmail, "full@example.com");
    assert.equal(user.userPhoneNumber, "+15551234567");
    assert.deepEqual(user.apiKeys.map(({ expirationSeconds }: Json) => expirationSeconds).sort(), [
      "86400",
      undefined,
      undefined,
    ]);
    assert.equal(user.userTags.length, 1);
  },
  bad: [],
  foreign: [{ name: "a user", bend: (_, { userId }) => ({ userId }), refusal: noSuchUser }],
});

export const listUsers = queryEntry<object>({
  good: async (fixture, place) => {
    await fullUser(fixture, place);
    return {};
  },
  required: [],
  answer: (_, { users, ...nothing }, { place }) => {
    assert.deepEqual(nothing, {});
    for (const person of [place.root, place.deputy, place.member, place.expired]) {
      checkPerson(
        users.find(({ userId }: Json) => userId === person.userId),
        person,
      );
    }
    assert.equal(users.length, 5);
  },
  bad: [],
  foreign: [],
});

export const getApiKey = queryEntry<{ apiKeyId: string }>({
  good: (_, { member }) => ({ apiKeyId: member.apiKeyIds[0] ?? "" }),
  required: ["apiKeyId"],
  answer: ({ apiKeyId }, { apiKey, ...nothing }, { place }) => {
    assert.deepEqual(nothing, {});
    const { createdAt: _, updatedAt: __, ...rest } = apiKey;
    const { publicKey } = place.member.p256;
    assert.deepEqual(rest, {
      apiKeyId,
      apiKeyName: "Key 1",
      credential: { publicKey, type: "CREDENTIAL_TYPE_API_KEY_P256" },
    });
  },
  bad: [],
  foreign: [
    {
      name: "a key",
      bend: (_, { apiKeyId }) => ({ apiKeyId }),
      refusal: ({ apiKeyId }, { organizationId }) =>
        notFound(`unable to find api key ${apiKeyId} in organization ${organizationId}`),
    },
  ],
});

export const getApiKeys = queryEntry<{ userId: string }>({
  good: async (fixture, place) => ({ userId: await fullUser(fixture, place) }),
  required: [],
  answer: async ({ userId }, { apiKeys, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    assert.deepEqual(apiKeys, (await fixture.ask("get_user", { userId })).user.apiKeys);
    assert.equal(apiKeys.length, 3);
  },
  bad: [],
  foreign: [{ name: "a user", bend: (_, { userId }) => ({ userId }), refusal: noSuchUser }],
  also: {
    "without a user, the keys of all": async (fixture) => {
      const { users } = await fixture.ask("list_users");
      const all = users.flatMap(({ apiKeys }: Json) => apiKeys);
      const byId = (one: Json, other: Json) => (one.apiKeyId < other.apiKeyId ? -1 : 1);
      const { apiKeys } = await fixture.ask("get_api_keys");
      assert.deepEqual(apiKeys.toSorted(byId), all.toSorted(byId));
    },
  },
});

export const listUserTags = queryEntry<object>({
  good: async (fixture, place) => {
    await fixture.done("create_user_tag", { userTagName: "listed", userIds: [] }, place.root, place);
    return {};
  },
  required: [],
  answer: (_, { userTags, ...nothing }) => {
    assert.deepEqual(nothing, {});
    assert.deepEqual(
      userTags.map(({ tagName, tagType }: Json) => ({ tagName, tagType })),
      [{ tagName: "listed", tagType: "TAG_TYPE_USER" }],
    );
  },
  bad: [],
  foreign: [],
});

export const getOrganizationConfigs = queryEntry<object>({
  good: async (fixture, place) => {
    const params = { name: "FEATURE_NAME_WEBHOOK", value: "https://example.com" };
    await fixture.done("set_organization_feature", params, place.root, place);
    await fixture.done("set_organization_feature", { name: "FEATURE_NAME_EMAIL_AUTH", value: "" }, place.root, place);
    return {};
  },
  required: [],
  answer: (_, answer, { place }) => {
    assert.deepEqual(answer, {
      configs: {
        features: [{ name: "FEATURE_NAME_WEBHOOK", value: "https://example.com" }, { name: "FEATURE_NAME_EMAIL_AUTH" }],
        quorum: { threshold: 1, userIds: [place.root.userId, place.deputy.userId] },
      },
    });
  },
  bad: [],
  foreign: [],
});

export const getOrganization = queryEntry<object>({
  good: async (fixture, place) => {
    const done: Fixture["done"] = (path, parameters) => fixture.done(path, parameters, place.root, place);
    await fullUser(fixture, place);
    await done("create_private_key_tag", { privateKeyTagName: "cold", privateKeyIds: [] });
    await done("create_wallet", { walletName: "main", accounts: [] });
    await done("create_policy", { policyName: "none", effect: "EFFECT_DENY", condition: "false", notes: "" });
    return {};
  },
  required: [],
  answer: async (_, { organizationData, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    const { place } = fixture;
    const { quorum, features } = (await fixture.ask("get_organization_configs")).configs;
    const { userTags } = await fixture.ask("list_user_tags");
    const { privateKeyTags } = await fixture.ask("list_private_key_tags");
    assert.deepEqual(organizationData, {
      organizationId: place.organizationId,
      name: place.organizationName,
      users: (await fixture.ask("list_users")).users,
      policies: (await fixture.ask("list_policies")).policies,
      privateKeys: (await fixture.ask("list_private_keys")).privateKeys,
      invitations: [],
      tags: [...userTags, ...privateKeyTags],
      rootQuorum: quorum,
      features,
      wallets: (await fixture.ask("list_wallets")).wallets,
      smartContractInterfaceReferences: [],
    });
    assert.deepEqual([organizationData.wallets.length, organizationData.policies.length], [1, 1]);
    assert.deepEqual([userTags.length, privateKeyTags.length], [1, 1]);
  },
  bad: [],
  foreign: [],
});

export const getActivity = queryEntry<{ activityId: string }>({
  good: async (fixture, place) => {
    const parameters = { userTagName: randomUUID(), userIds: [place.member.userId] };
    const answer = await fixture.submit("create_user_tag", parameters, place.root, place);
    assertAccepted(answer);
    return { activityId: answer.json.activity.id };
  },
  required: ["activityId"],
  answer: async ({ activityId }, { activity, ...nothing }, fixture) => {
    assert.deepEqual(nothing, {});
    const { activities } = await fixture.ask("list_activities", { paginationOptions: { limit: "100" } });
    assert.deepEqual(
      activity,
      activities.find(({ id }: Json) => id === activityId),
    );
    assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
    assert.equal(activity.votes[0].userId, fixture.place.root.userId);
  },
  bad: [],
  foreign: [
    {
      name: "an activity",
      bend: (_, { activityId }) => ({ activityId }),
      refusal: ({ activityId }, { organizationId }) =>
        notFound(`unable to find activity ${activityId} in organization ${organizationId}`),
    },
  ],
  findsBelow: true,
  upwards: ({ activityId }, { organizationId }) =>
    notFound(`unable to find activity ${activityId} in organization ${organizationId}`),
  also: {
    "a parent finds its sub-organization's by its own id, as clients poll": async (fixture) => {
      const { parent, sub } = fixture;
      const { activityId } = await getActivity.good(fixture, sub);
      const { activity } = await fixture.ask("get_activity", { activityId }, parent.member, parent);
      assert.equal(activity.organizationId, sub.organizationId);
    },
    "whoever may vote is told so": async (fixture) => {
      const { root, deputy, member } = fixture.place;
      await fixture.done("update_root_quorum", { threshold: 2, userIds: [root.userId, deputy.userId] });
      const { json } = await fixture.submit("create_user_tag", { userTagName: randomUUID(), userIds: [] });
      const rights = async (reader: Person) => {
        const { activity } = await fixture.ask("get_activity", { activityId: json.activity.id }, reader);
        return [activity.canApprove, activity.canReject];
      };
      assert.deepEqual(await rights(root), [false, true]);
      assert.deepEqual(await rights(deputy), [true, true]);
      assert.deepEqual(await rights(member), [false, false]);
    },
  },
});
