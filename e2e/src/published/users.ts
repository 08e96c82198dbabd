/** Users, their credentials and their tags, by the published server client's methods. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { createKey } from "../key_pairs.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import {
  apiKeyOf,
  asPerson,
  assertTimestamp,
  at,
  createMember,
  foundOrganization,
  type Person,
  refusalOf,
  wording,
} from "./clients.ts";

const nobody = "00000000-0000-4000-8000-000000000000";

export async function users(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { sdk, organizationId } = owner;

  await t.test(
    "createApiOnlyUsers and getOrganization, which only the HTTP client has, work by its types",
    async () => {
      const key = createKey();
      const { activity } = await owner.http.createApiOnlyUsers({
        type: "ACTIVITY_TYPE_CREATE_API_ONLY_USERS",
        organizationId,
        timestampMs: String(Date.now()),
        parameters: {
          apiOnlyUsers: [{ userName: "Bot", userTags: [], apiKeys: [{ apiKeyName: "bot", publicKey: key.publicKey }] }],
        },
      });
      assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
      assert.equal(activity.intent.createApiOnlyUsersIntent?.apiOnlyUsers[0]?.userName, "Bot");
      const userId = at(activity.result.createApiOnlyUsersResult?.userIds ?? [], 0);
      const bot = asPerson(server, { organizationId, userId, userName: "Bot", key });
      const { organizationData } = await bot.http.getOrganization({ organizationId });
      assert.deepEqual(organizationData.users, (await sdk.getUsers()).users);
      assert.deepEqual(
        organizationData.rootQuorum,
        (await sdk.getOrganizationConfigs({ organizationId })).configs.quorum,
      );
      assert.deepEqual([organizationData.organizationId, organizationData.invitations], [organizationId, []]);
      await sdk.deleteUsers({ userIds: [userId] });
    },
  );

  await t.test("createUsers answers the ids in order, and getUser shows each as it was sent", async () => {
    const { userTagId } = await sdk.createUserTag({ userTagName: "staff", userIds: [] });
    const [first, second] = [createKey(), createKey("API_KEY_CURVE_ED25519")];
    const { activity, userIds } = await sdk.createUsers({
      users: [
        {
          userName: "Ada",
          userEmail: "ada@example.com",
          userPhoneNumber: "+14155550100",
          apiKeys: [apiKeyOf(first, "Ada's key"), { ...apiKeyOf(second), expirationSeconds: "3600" }],
          authenticators: [],
          oauthProviders: [],
          userTags: [userTagId],
        },
        // In a sub-organization the login by e-mail is on, so an address is a credential.
        {
          userName: "Bob",
          userEmail: "bob@example.com",
          apiKeys: [],
          authenticators: [],
          oauthProviders: [],
          userTags: [],
        },
      ],
    });
    assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
    assert.equal(activity.type, "ACTIVITY_TYPE_CREATE_USERS_V4");
    assert.equal(activity.intent.createUsersIntentV4?.users.length, 2);
    for (const time of [activity.createdAt, activity.updatedAt, activity.votes[0]?.createdAt]) assertTimestamp(time);
    assert.equal(userIds.length, 2);

    const { user: ada } = await sdk.getUser({ userId: at(userIds, 0) });
    const { apiKeys, createdAt, updatedAt, ...rest } = ada;
    assert.deepEqual(rest, {
      userId: userIds[0],
      userName: "Ada",
      userEmail: "ada@example.com",
      userPhoneNumber: "+14155550100",
      userTags: [userTagId],
      authenticators: [],
      oauthProviders: [],
      mfaPolicies: [],
    });
    assertTimestamp(createdAt);
    assertTimestamp(updatedAt);
    assert.deepEqual(
      apiKeys
        .map(({ apiKeyName, credential, expirationSeconds }) => ({ apiKeyName, credential, expirationSeconds }))
        .sort((a, b) => a.apiKeyName.localeCompare(b.apiKeyName)),
      [
        {
          apiKeyName: "Ada's key",
          credential: { publicKey: first.publicKey, type: "CREDENTIAL_TYPE_API_KEY_P256" },
          expirationSeconds: undefined,
        },
        {
          apiKeyName: "Key",
          credential: { publicKey: second.publicKey, type: "CREDENTIAL_TYPE_API_KEY_ED25519" },
          expirationSeconds: "3600",
        },
      ],
    );

    const { users } = await sdk.getUsers();
    assert.deepEqual(new Set(users.map(({ userName }) => userName)), new Set(["Owner", "Ada", "Bob"]));
    const adasClient = asPerson(server, { organizationId, userId: ada.userId, userName: "Ada", key: first }).sdk;
    assert.equal((await adasClient.getWhoami()).username, "Ada");
  });

  await t.test("each of the update methods changes what it names and nothing else", async () => {
    const { userTagId } = await sdk.createUserTag({ userTagName: "moved", userIds: [] });
    const { userId } = await createMember(server, owner, "Before");
    const read = async () => {
      const { userName, userEmail, userPhoneNumber, userTags } = (await sdk.getUser({ userId })).user;
      return { userName, userEmail, userPhoneNumber, userTags };
    };
    const bare = { userEmail: undefined, userPhoneNumber: undefined, userTags: [] };
    assert.deepEqual(await read(), { userName: "Before", ...bare });

    assert.equal((await sdk.updateUserName({ userId, userName: "After" })).userId, userId);
    assert.deepEqual(await read(), { userName: "After", ...bare });
    assert.equal((await sdk.updateUserEmail({ userId, userEmail: "after@example.com" })).userId, userId);
    assert.equal((await sdk.updateUserPhoneNumber({ userId, userPhoneNumber: "+14155550101" })).userId, userId);
    const contacts = { userEmail: "after@example.com", userPhoneNumber: "+14155550101" };
    assert.deepEqual(await read(), { userName: "After", ...contacts, userTags: [] });
    assert.equal((await sdk.updateUser({ userId, userName: "Again", userTagIds: [userTagId] })).userId, userId);
    assert.deepEqual(await read(), { userName: "Again", ...contacts, userTags: [userTagId] });
    // An empty text takes a contact away.
    await sdk.updateUserEmail({ userId, userEmail: "" });
    await sdk.updateUserPhoneNumber({ userId, userPhoneNumber: "" });
    assert.deepEqual(await read(), { userName: "Again", ...bare, userTags: [userTagId] });
  });

  await t.test("deleteUsers ends the user, its keys and its answers", async () => {
    const member = await createMember(server, owner, "Leaver");
    const { userIds } = await sdk.deleteUsers({ userIds: [member.userId] });
    assert.deepEqual(userIds, [member.userId]);
    assert.equal((await refusalOf(member.sdk.getWhoami())).code, 16);
    const gone = wording(5, `unable to find user ${member.userId} in organization ${organizationId}`);
    assert.equal((await refusalOf(sdk.getUser({ userId: member.userId }))).message, gone);
    assert.equal((await refusalOf(sdk.deleteUsers({ userIds: [member.userId] }))).message, gone);
    // The last root user stays.
    assert.equal(
      (await refusalOf(sdk.deleteUsers({ userIds: [owner.userId] }))).message,
      wording(
        3,
        `quorum users missing: user \`${owner.userId}\` is in the root quorum; take it out with update_root_quorum first`,
      ),
    );
  });

  await t.test("createApiKeys and deleteApiKeys; getApiKey and getApiKeys show what is left", async () => {
    const member = await createMember(server, owner, "Holder");
    const { userId } = member;
    const [lasting, expiring] = [createKey(), createKey()];
    // By the member itself: its own credentials are its own to change.
    const { apiKeyIds } = await member.sdk.createApiKeys({
      userId,
      apiKeys: [apiKeyOf(lasting, "Lasting"), { ...apiKeyOf(expiring, "Expiring"), expirationSeconds: "900" }],
    });
    const [lastingId, expiringId] = [at(apiKeyIds, 0), at(apiKeyIds, 1)];
    const { apiKey } = await member.sdk.getApiKey({ apiKeyId: expiringId });
    assert.equal(apiKey.apiKeyName, "Expiring");
    assert.equal(apiKey.expirationSeconds, "900");
    assert.deepEqual(apiKey.credential, { publicKey: expiring.publicKey, type: "CREDENTIAL_TYPE_API_KEY_P256" });
    assertTimestamp(apiKey.createdAt);

    const names = async () => (await sdk.getApiKeys({ userId })).apiKeys.map(({ apiKeyName }) => apiKeyName).sort();
    assert.deepEqual(await names(), ["Expiring", "Key", "Lasting"]);
    const { apiKeys: all } = await sdk.getApiKeys();
    for (const apiKeyId of apiKeyIds)
      assert.ok(
        all.some((key) => key.apiKeyId === apiKeyId),
        "all keys of all users",
      );

    const withLasting = asPerson(server, { ...member, key: lasting });
    assert.deepEqual((await withLasting.sdk.deleteApiKeys({ userId, apiKeyIds: [expiringId] })).apiKeyIds, [
      expiringId,
    ]);
    assert.deepEqual(await names(), ["Key", "Lasting"]);
    assert.equal((await refusalOf(asPerson(server, { ...member, key: expiring }).sdk.getWhoami())).code, 16);
    assert.equal((await refusalOf(sdk.getApiKey({ apiKeyId: expiringId }))).code, 5);
    const { apiKeys: left } = await sdk.getApiKeys({ userId });
    const refused = await refusalOf(
      member.sdk.deleteApiKeys({ userId, apiKeyIds: left.map(({ apiKeyId }) => apiKeyId) }),
    );
    assert.equal(
      refused.message,
      wording(
        3,
        `user missing valid credential: ${userId}; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does`,
      ),
    );
    assert.deepEqual((await member.sdk.deleteApiKeys({ userId, apiKeyIds: [lastingId] })).apiKeyIds, [lastingId]);
  });

  await t.test("createUserTag, updateUserTag, deleteUserTags and listUserTags", async () => {
    const [one, two] = [await createMember(server, owner, "One"), await createMember(server, owner, "Two")];
    const tagsOf = async (userId: string) => (await sdk.getUser({ userId })).user.userTags;
    const created = await sdk.createUserTag({ userTagName: "night shift", userIds: [one.userId] });
    const { userTagId } = created;
    assert.deepEqual(created.userIds, [one.userId]);
    assert.deepEqual(await tagsOf(one.userId), [userTagId]);

    const moved = await sdk.updateUserTag({
      userTagId,
      newUserTagName: "day shift",
      addUserIds: [two.userId],
      removeUserIds: [one.userId],
    });
    assert.equal(moved.userTagId, userTagId);
    assert.deepEqual([await tagsOf(one.userId), await tagsOf(two.userId)], [[], [userTagId]]);

    const { userTags } = await sdk.listUserTags();
    const tag = userTags.find(({ tagId }) => tagId === userTagId);
    assert.ok(tag !== undefined);
    const { createdAt, updatedAt, ...rest } = tag;
    assert.deepEqual(rest, { tagId: userTagId, tagName: "day shift", tagType: "TAG_TYPE_USER" });
    assertTimestamp(createdAt);
    assertTimestamp(updatedAt);

    const { userTagIds, userIds } = await sdk.deleteUserTags({ userTagIds: [userTagId] });
    assert.deepEqual({ userTagIds, userIds }, { userTagIds: [userTagId], userIds: [two.userId] });
    assert.deepEqual(await tagsOf(two.userId), []);
    assert.ok(!(await sdk.listUserTags()).userTags.some(({ tagId }) => tagId === userTagId));
  });

  await t.test("what is not there is not found, by every query that names one thing", async () => {
    const calls = [
      () => sdk.getUser({ userId: nobody }),
      () => sdk.getApiKey({ apiKeyId: nobody }),
      () => sdk.getActivity({ activityId: nobody }),
    ];
    for (const call of calls)
      assert.match((await refusalOf(call())).message, new RegExp(`^Turnkey error 5: .*${nobody}`));
  });
}
