/** What a session approved stays approved by a session, also when the session has ended since. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createGatewayRig, type GatewayRig, newUser, type Person } from "../../test/gateway_rig.ts";
import { dialects } from "../../test/open_test_store.ts";
import { login, newKey } from "../../test/session_rig.ts";

const isSession = "credentials.any(c, c.type == 'CREDENTIAL_TYPE_LOGIN')";

type Where = { organizationId: string };

async function addPolicy(rig: GatewayRig, by: Person, draft: object, at: Where): Promise<void> {
  await rig.submit(by, "create_policy", { policyName: JSON.stringify(draft), notes: "", ...draft }, at);
}

/** As a thief would who has nothing but the session. */
async function endSession(rig: GatewayRig, session: Person, at: Where): Promise<void> {
  const { session: second } = await login(rig, session, at);
  await login(rig, second, at, { invalidateExisting: true });
}

async function statusOf(rig: GatewayRig, activityId: string): Promise<string | undefined> {
  const rows = rig.store.db.selectFrom("activities").select("status").where("activity_id", "=", activityId);
  return (await rows.execute())[0]?.status;
}

/** Ann and Bob are the quorum together, Dan is nobody in particular; wallets take two people and no session. */
async function createTeam(rig: GatewayRig) {
  const { organizationId, people } = await rig.newSubOrganization(1, ["Ann", "Bob"]);
  const at = { organizationId };
  const [ann, bob] = people as [Person, Person];
  const { user, privateKey } = newUser("Dan");
  const { result } = await rig.submit(ann, "create_users", { users: [{ ...user, userTags: [] }] }, at);
  const { userIds } = result.createUsersResult as { userIds: [string] };
  const dan = { userId: userIds[0], userName: "Dan", privateKey };
  const wallets = { condition: "activity.resource == 'WALLET'" };
  await addPolicy(rig, ann, { ...wallets, effect: "EFFECT_ALLOW", consensus: "approvers.count() >= 2" }, at);
  await addPolicy(rig, ann, { ...wallets, effect: "EFFECT_DENY", consensus: isSession }, at);
  await rig.submit(ann, "update_root_quorum", { threshold: 2, userIds: [ann.userId, bob.userId] }, at);
  return { at, ann, bob, dan };
}

for (const dialect of dialects) {
  test(`a session that ends leaves what it proposed denied; its user may propose the same with another key (${dialect})`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { at, ann, dan } = await createTeam(rig);
    const { session } = await login(rig, ann, at);
    const { id, fingerprint } = await rig.submit(session, "create_wallet", { walletName: "w", accounts: [] }, at);
    await endSession(rig, session, at);
    const vote = (by: Person) => rig.submit(by, "approve_activity", { fingerprint }, at);
    await assert.rejects(vote(dan), /this user has no vote on this activity/);
    // Nor does her own lasting key turn the approval that she has into another.
    await vote(ann);
    await assert.rejects(vote(dan), /this user has no vote on this activity/);
    assert.equal(await statusOf(rig, id), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    const { fingerprint: anew } = await rig.submit(ann, "create_wallet", { walletName: "w", accounts: [] }, at);
    const { status } = await rig.submit(dan, "approve_activity", { fingerprint: anew }, at);
    assert.equal(status, "ACTIVITY_STATUS_COMPLETED");
  });

  test(`a session of the quorum that ends adds no key to its user with fewer approvals than the quorum's (${dialect})`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { organizationId, people } = await rig.newSubOrganization(1, ["Ann", "Bob", "Cat"]);
    const [ann, bob] = people as [Person, Person];
    const at = { organizationId };
    const draft = { effect: "EFFECT_DENY", condition: "activity.resource == 'CREDENTIAL'", consensus: isSession };
    await addPolicy(rig, ann, draft, at);
    const userIds = people.map(({ userId }) => userId);
    await rig.submit(ann, "update_root_quorum", { threshold: 3, userIds }, at);
    const { session } = await login(rig, ann, at);
    const apiKeys = [{ apiKeyName: "new", publicKey: newKey().publicKey, curveType: "API_KEY_CURVE_P256" }];
    const proposed = await rig.submit(session, "create_api_keys", { userId: ann.userId, apiKeys }, at);
    await endSession(rig, session, at);
    await rig.submit(bob, "approve_activity", { fingerprint: proposed.fingerprint }, at);
    assert.equal(await statusOf(rig, proposed.id), "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  });
}
