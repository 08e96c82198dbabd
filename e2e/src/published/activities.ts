/** Activities as the published clients send and read them. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { verifyAppProofSignature } from "@turnkey/crypto";
import type { KeysteadServer } from "../keystead_server.ts";
import { at, createMember, foundOrganization, type Person, refusalOf } from "./clients.ts";
import { tagBody } from "./requests.ts";

export async function activities(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { organizationId } = owner;

  await t.test("getActivities pages from the newest to the oldest, either way, and filters", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) {
      ids.unshift((await owner.sdk.createUserTag({ userTagName: `tag ${index}`, userIds: [] })).activity.id);
    }
    const list = async (options: Parameters<typeof owner.sdk.getActivities>[0]) =>
      (await owner.sdk.getActivities(options)).activities.map(({ id }) => id);
    assert.deepEqual(await list({}), ids);
    assert.deepEqual(await list({ paginationOptions: { limit: "2" } }), ids.slice(0, 2));
    assert.deepEqual(await list({ paginationOptions: { limit: "2", before: at(ids, 1) } }), ids.slice(2, 4));
    assert.deepEqual(await list({ paginationOptions: { before: at(ids, 3) } }), ids.slice(4));
    assert.deepEqual(await list({ paginationOptions: { after: at(ids, 2) } }), ids.slice(0, 2));
    assert.deepEqual(await list({ paginationOptions: { after: at(ids, 4), before: at(ids, 0) } }), ids.slice(1, 4));
    assert.deepEqual(await list({ filterByStatus: ["ACTIVITY_STATUS_COMPLETED"] }), ids);
    assert.deepEqual(await list({ filterByStatus: ["ACTIVITY_STATUS_FAILED", "ACTIVITY_STATUS_REJECTED"] }), []);
    assert.deepEqual(await list({ filterByType: ["ACTIVITY_TYPE_CREATE_USER_TAG"] }), ids);
    assert.deepEqual(await list({ filterByType: ["ACTIVITY_TYPE_CREATE_USERS_V4"] }), []);
    assert.equal((await refusalOf(list({ paginationOptions: { limit: "101" } }))).code, 3);
    assert.equal((await refusalOf(list({ paginationOptions: { before: root.userId } }))).code, 3);
  });

  await t.test("both clients read the same, by every query", async () => {
    const member = await createMember(server, owner, "Member");
    const { activity } = await owner.sdk.createUserTag({ userTagName: "read", userIds: [member.userId] });
    const { sdk, http, userId } = owner;
    const { apiKeyId } = at((await sdk.getApiKeys({ userId })).apiKeys, 0);
    const input = { organizationId };
    assert.deepEqual(await http.getActivity({ ...input, activityId: activity.id }), { activity });
    const pairs = [
      [sdk.getActivities({}), http.getActivities(input)],
      [sdk.getUser({ userId }), http.getUser({ ...input, userId })],
      [sdk.getUsers({}), http.getUsers(input)],
      [sdk.getApiKey({ apiKeyId }), http.getApiKey({ ...input, apiKeyId })],
      [sdk.getApiKeys({}), http.getApiKeys(input)],
      [sdk.listUserTags({ organizationId }), http.listUserTags(input)],
      [sdk.getOrganizationConfigs(input), http.getOrganizationConfigs(input)],
      [root.sdk.getSubOrgIds({}), root.http.getSubOrgIds({ organizationId: root.organizationId })],
      [sdk.getWhoami({}), http.getWhoami(input)],
    ];
    for (const pair of pairs) {
      const [one, other] = await Promise.all(pair);
      assert.deepEqual(one, other);
    }
  });

  await t.test("a parent that knows an activity's id may read it by either organization's", async () => {
    const { activity } = await owner.http.createUserTag(tagBody(owner, "watched"));
    for (const organizationId of [owner.organizationId, root.organizationId]) {
      const read = await root.http.getActivity({ organizationId, activityId: activity.id });
      assert.equal(read.activity.id, activity.id);
    }
    const [stranger] = await foundOrganization(server, root, ["Stranger"]);
    assert.equal(
      (await refusalOf(stranger?.sdk.getActivity({ activityId: activity.id }) ?? Promise.resolve())).code,
      5,
    );
  });

  await t.test(
    "the wish for proofs is accepted where one client puts it: outside and inside the parameters",
    async () => {
      const body = tagBody(owner, "with proofs");
      const parameters = { ...body.parameters, generateAppProofs: true };
      const { activity } = await owner.http.createUserTag({ ...body, parameters, generateAppProofs: true });
      assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
      const [proof, ...others] = activity.appProofs ?? [];
      assert.ok(proof && others.length === 0);
      verifyAppProofSignature(proof);
      const { appProofs } = await owner.http.getAppProofs({ organizationId, activityId: activity.id });
      assert.deepEqual(appProofs, [proof]);
    },
  );
}
