/** What waits to be committed is bounded, in an organization whose every change writes hundreds of kilobytes. */
import assert from "node:assert/strict";
import { createECDH } from "node:crypto";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { patienceMs } from "../../../../core/test/patience.ts";
import { createGatewayRig, type GatewayRig, type Person } from "../../../test/gateway_rig.ts";
import { createAdmission } from "../bounds/admission.ts";
import { admissionLimits } from "../bounds/memory_bounds.ts";
import { type Committer, createCommitter } from "./committer.ts";
import { createOrganizations } from "./organization_states.ts";

const mebibyte = 1024 * 1024;

type Large = { organizationId: string; ann: Person };

/** A sub-organization with a members page of some 300 kB. */
async function withLargeOrganization(t: TestContext): Promise<{ rig: GatewayRig; large: Large }> {
  const rig = await createGatewayRig(t, "sqlite");
  assert.ok(rig);
  const { organizationId, people } = await rig.newSubOrganization(1, ["Ann"]);
  const [ann = assert.fail()] = people;
  for (let batch = 0; batch < 3; batch++) {
    const users = Array.from({ length: 20 }, (_, index) => ({
      userName: `user ${batch} ${index}`,
      apiKeys: Array.from({ length: 10 }, newKey),
      authenticators: [],
      oauthProviders: [],
      userTags: [],
    }));
    await rig.submit(ann, "create_users", { users }, { organizationId });
  }
  return { rig, large: { organizationId, ann } };
}

function newKey() {
  const pair = createECDH("prime256v1");
  pair.generateKeys();
  const publicKey = pair.getPublicKey("hex", "compressed");
  return { apiKeyName: "k".repeat(200), publicKey, curveType: "API_KEY_CURVE_P256" };
}

const heldBy = (committer: Committer) => committer.held().short + committer.held().long;

const rename = (rig: GatewayRig, { organizationId, ann }: Large, userName: string) =>
  rig.submit(ann, "update_user_name", { userId: ann.userId, userName }, { organizationId });

test("while the database does not commit, no more is prepared than the bound has room for, and none of that is lost", async (t) => {
  const { rig, large } = await withLargeOrganization(t);
  const { store, dependencies, link, places, root } = rig;
  assert.ok(store.dialect === "sqlite");
  const stalled = Promise.withResolvers<void>();
  t.after(() => stalled.resolve());
  const { exclusive } = store.sqlite;
  const waiting = <T>(work: () => T): Promise<T> => stalled.promise.then(() => exclusive(work));
  const committer = createCommitter({ ...store, sqlite: { ...store.sqlite, exclusive: waiting } }, link, { places });
  // As a gateway that has just begun: it knows no organization yet.
  const limits = { ...admissionLimits, allReplies: 2 * mebibyte, waitMs: 1_000 };
  const admission = createAdmission(limits, committer);
  const organizations = createOrganizations(store, link, assert.fail, admission);
  Object.assign(dependencies, { committer, organizations });
  let [most, isOver] = [0, false];
  const watching = (async () => {
    for (; !isOver; await pause(5)) most = Math.max(most, heldBy(committer));
  })();
  const codes: string[] = [];
  const requests = Array.from({ length: 40 }, async (_, index) => {
    try {
      await rename(rig, large, `Ann ${index}`);
      codes.push("done");
    } catch (error) {
      codes.push((error as { code: string }).code);
    }
  });
  // A small one of another organization is taken in all the same.
  const honest = rig.submit(root, "create_user_tag", { userTagName: "honest", userIds: [] });
  const isDecided = () => codes.length > 0 || most > 2 * mebibyte;
  for (const until = Date.now() + patienceMs; !isDecided() && Date.now() < until; ) await pause(20);
  const held = heldBy(committer);
  assert.ok(held > mebibyte && held <= 2 * mebibyte, `${held}`);
  stalled.resolve();
  await Promise.all(requests);
  assert.equal((await honest).status, "ACTIVITY_STATUS_COMPLETED");
  isOver = true;
  await watching;
  assert.ok(most <= 2 * mebibyte, `${most}`);
  assert.deepEqual([...new Set(codes)].sort(), ["done", "resource_exhausted"]);
  assert.equal(heldBy(committer), 0);
});

test("a request costs what the state makes it write, also in a gateway that has just begun", async (t) => {
  const { rig, large } = await withLargeOrganization(t);
  const costs: number[] = [];
  const { request } = rig.link;
  rig.link.request = (kind, message, turn) => {
    if (turn !== undefined) costs.push(turn.cost);
    return request(kind, message, turn);
  };
  rig.dependencies.organizations = createOrganizations(rig.store, rig.link, assert.fail);
  await rename(rig, large, "first");
  await rename(rig, large, "second");
  await rig.submit(rig.root, "create_user_tag", { userTagName: "small", userIds: [] });
  await rig.submit(rig.root, "create_user_tag", { userTagName: "small again", userIds: [] });
  const [first = 0, second = 0, , small = 0] = costs;
  assert.ok(first > second + 2_000, `${costs}: the first offers the state`);
  assert.ok(second > 3_500 && small < 700, `${costs}`);
});
