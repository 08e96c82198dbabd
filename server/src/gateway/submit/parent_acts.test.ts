/** A parent that acts in its sub-organization, through gateway and signer on both databases. */
import assert from "node:assert/strict";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import { faultCodes } from "@keystead/core/fault.ts";
import { p256 } from "@noble/curves/nist.js";
import type { GatewayRig, Person } from "../../../test/gateway_rig.ts";
import { parentActBody, registerParentAct, sendParentAct } from "../../../test/parent_act.ts";
import { addPolicy, evaluationsOf, onBothDatabases, refusalOf, seenBy } from "../../../test/policy_rig.ts";
import { newKey } from "../../../test/session_rig.ts";
import { leafOf } from "../../../test/signer_rig.ts";
import type { Prepared, Request } from "../../frames/messages.ts";
import { decodePage } from "../../state/pages.ts";
import { findPage, findVersion } from "../../store/organizations.ts";

registerParentAct();

const completed = "ACTIVITY_STATUS_COMPLETED";
const denied = { code: faultCodes.permission_denied };
const loginPolicy = { condition: "activity.kind == 'OTP_LOGIN'" };

async function createFamily(rig: GatewayRig, threshold = 1) {
  const { organizationId, people } = await rig.newSubOrganization(threshold, ["ann", "bob"]);
  const [ann, bob] = people;
  assert.ok(ann && bob);
  const act = (person: Person, userName: string) =>
    sendParentAct(rig, person, parentActBody(rig, organizationId, ann.userId, userName));
  const nameOfAnn = async () => {
    const page = await findPage(rig.store, organizationId, "members");
    assert.ok(page);
    return decodePage("members", page).users.get(ann.userId)?.userName;
  };
  const versions = async () => [
    await findVersion(rig.store, rig.organizationId),
    await findVersion(rig.store, organizationId),
  ];
  return { organizationId, ann, bob, act, nameOfAnn, versions };
}

/** Calls `meanwhile` once, between the signer's decision and its commit. */
function betweenPrepareAndCommit({ link }: GatewayRig, meanwhile: (prepared: Prepared) => Promise<unknown>): void {
  const { request } = link;
  link.request = (async (kind: "prepare", message: never) => {
    const reply = await request(kind, message);
    if (kind !== "prepare" || reply.kind !== "prepared") return reply;
    link.request = request;
    await meanwhile(reply.value[0] as Prepared);
    return reply;
  }) as typeof request;
}

onBothDatabases("the parent's quorum acts in a child, whose state alone moves; the leaf names both", async (rig) => {
  const family = await createFamily(rig);
  const [parent = 0, child = 0] = await family.versions();
  let leaf: ReturnType<typeof leafOf> | undefined;
  betweenPrepareAndCommit(rig, async (prepared) => {
    leaf = leafOf(prepared);
  });
  const activity = await family.act(rig.root, "Renamed");
  assert.equal(activity.status, completed);
  assert.equal(activity.organizationId, family.organizationId);
  assert.deepEqual(
    activity.votes.map(({ userId }) => userId),
    [rig.root.userId],
  );
  assert.equal(await family.nameOfAnn(), "Renamed");
  assert.deepEqual(await family.versions(), [parent, child + 1]);
  assert.deepEqual(
    leaf?.states.map(({ organizationId, version }) => [uuidFromBytes(organizationId), version]),
    [
      [family.organizationId, child],
      [rig.organizationId, parent],
    ],
  );
  assert.deepEqual(
    leaf?.evidence.map(({ userId }) => uuidFromBytes(userId)),
    [rig.root.userId],
  );
});

onBothDatabases("the same bytes are one act, for whoever of the parent repeats them", async (rig) => {
  const family = await createFamily(rig);
  const body = parentActBody(rig, family.organizationId, family.ann.userId, "Once");
  const first = await sendParentAct(rig, rig.root, body);
  const versions = await family.versions();
  const again = await sendParentAct(rig, rig.root, body);
  assert.deepEqual([again.id, again.result], [first.id, first.result]);
  assert.deepEqual(await family.versions(), versions);
});

onBothDatabases(
  "a member of the parent needs a policy of the parent; one of the child counts for nothing",
  async (rig) => {
    const family = await createFamily(rig);
    const eve = await rig.newPerson("eve");
    assert.deepEqual({ code: (await refusalOf(family.act(eve, "No"))).code }, denied);
    await addPolicy(rig, loginPolicy, family.ann, { organizationId: family.organizationId });
    assert.deepEqual({ code: (await refusalOf(family.act(eve, "No"))).code }, denied, "nor is it eve's own credential");
    await addPolicy(rig, loginPolicy);
    assert.equal((await family.act(eve, "Allowed")).status, completed);
    assert.equal(await family.nameOfAnn(), "Allowed");
  },
);

onBothDatabases("what would have to wait for votes of the parent is refused, and waits nowhere", async (rig) => {
  const family = await createFamily(rig);
  const eve = await rig.newPerson("eve");
  await addPolicy(rig, { ...loginPolicy, consensus: "approvers.count() >= 2" });
  const refusal = await refusalOf(family.act(eve, "Later"));
  assert.equal(refusal.code, faultCodes.permission_denied);
  const userIds = [rig.root.userId, eve.userId];
  await rig.submit(rig.root, "update_root_quorum", { threshold: 2, userIds });
  assert.deepEqual({ code: (await refusalOf(family.act(rig.root, "Later"))).code }, denied);
  for (const organizationId of [family.organizationId, rig.organizationId]) {
    const page = await findPage(rig.store, organizationId, "pending");
    assert.equal(page === undefined ? 0 : decodePage("pending", page).size, 0);
  }
});

onBothDatabases("a child's members read nothing of the parent's policies, and of its user the key", async (rig) => {
  const family = await createFamily(rig);
  const within = { organizationId: family.organizationId };
  const eve = await rig.newPerson("eve");
  await rig.submit(rig.root, "update_user_email", { userId: eve.userId, userEmail: "eve@example.com" });
  const other = { apiKeyName: "other", publicKey: newKey().publicKey, curveType: "API_KEY_CURVE_P256" };
  await rig.submit(eve, "create_api_keys", { userId: eve.userId, apiKeys: [other] });
  await addPolicy(rig, { effect: "EFFECT_DENY", condition: "activity.resource == 'WALLET'" });
  const refusal = await refusalOf(family.act(eve, "No"));
  assert.deepEqual(refusal.details, [
    {
      "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
      message: "No policies evaluated to outcome: Allow",
      policyEvaluations: [],
    },
  ]);
  await addPolicy(rig, loginPolicy);
  const done = await family.act(eve, "Yes");
  const seen = await seenBy(rig, family.bob, done.id, within);
  const [vote] = seen.votes;
  assert.deepEqual([vote?.user.userName, vote?.user.userEmail, vote?.user.userTags], ["eve", undefined, []]);
  assert.deepEqual(
    vote?.user.apiKeys.map(({ credential }) => credential.publicKey),
    [vote?.publicKey],
  );
  assert.deepEqual(await evaluationsOf(rig, done.id, within), [{}]);
});

onBothDatabases("everything else in a child is refused to the parent as an organization mismatch", async (rig) => {
  const { organizationId } = await createFamily(rig);
  const mismatch = {
    code: "invalid_argument",
    errorCode: "ORGANIZATION_MISMATCH",
    message: `organization mismatch: request is targeting organization ("${organizationId}"), but voters are in organization ("${rig.organizationId}")`,
  };
  const within = { organizationId };
  await assert.rejects(rig.submit(rig.root, "create_user_tag", { userTagName: "t", userIds: [] }, within), mismatch);
  await assert.rejects(rig.submit(rig.root, "stamp_login", { publicKey: newKey().publicKey }, within), mismatch);
});

onBothDatabases("what waits in a child is nothing that the parent could approve", async (rig) => {
  const family = await createFamily(rig, 2);
  await addPolicy(rig, loginPolicy);
  const { organizationId, ann, bob } = family;
  const deny = { policyName: "d", effect: "EFFECT_DENY", ...loginPolicy, notes: "" };
  const waiting = await rig.submit(ann, "create_policy", deny, { organizationId });
  await rig.submit(bob, "approve_activity", { fingerprint: waiting.fingerprint }, { organizationId });
  const body = parentActBody(rig, organizationId, ann.userId, "Both");
  assert.equal((await sendParentAct(rig, ann, body)).status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  const versions = await family.versions();
  await assert.rejects(sendParentAct(rig, rig.root, body), { errorCode: "ORGANIZATION_MISMATCH" });
  assert.deepEqual(await family.versions(), versions);
  assert.equal((await sendParentAct(rig, bob, body)).status, completed);
});

onBothDatabases("a key that the child knows too acts as the child's user, by the child's rules", async (rig) => {
  const { organizationId, ann, bob, nameOfAnn } = await createFamily(rig, 2);
  const child = { organizationId };
  const deny = { policyName: "d", effect: "EFFECT_DENY", ...loginPolicy, notes: "" };
  const waiting = await rig.submit(ann, "create_policy", deny, child);
  await rig.submit(bob, "approve_activity", { fingerprint: waiting.fingerprint }, child);
  // Ann has the key of the parent's root user as well.
  const publicKey = toHex(p256.getPublicKey(rig.root.privateKey));
  const apiKeys = [{ apiKeyName: "shared", publicKey, curveType: "API_KEY_CURVE_P256" }];
  await rig.submit(ann, "create_api_keys", { userId: ann.userId, apiKeys }, child);
  const body = parentActBody(rig, organizationId, ann.userId, "Parent");
  assert.equal((await sendParentAct(rig, rig.root, body)).status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  assert.equal(await nameOfAnn(), "ann");
});

onBothDatabases("strangers and bad stamps are refused as everywhere, and leave nothing", async (rig) => {
  const family = await createFamily(rig);
  const versions = await family.versions();
  const stranger = { userId: "", userName: "", privateKey: newKey().privateKey };
  await assert.rejects(family.act(stranger, "No"), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  assert.deepEqual(await family.versions(), versions);
});

onBothDatabases("a policy of the parent that goes between decision and commit is gone", async (rig) => {
  const family = await createFamily(rig);
  const eve = await rig.newPerson("eve");
  const policyId = await addPolicy(rig, loginPolicy);
  betweenPrepareAndCommit(rig, () => rig.submit(rig.root, "delete_policy", { policyId }));
  assert.deepEqual({ code: (await refusalOf(family.act(eve, "Late"))).code }, denied);
  assert.equal(await family.nameOfAnn(), "ann");
});

onBothDatabases("a user who is deleted from the parent between decision and commit acts no more", async (rig) => {
  const family = await createFamily(rig);
  const eve = await rig.newPerson("eve");
  await addPolicy(rig, loginPolicy);
  betweenPrepareAndCommit(rig, () => rig.submit(rig.root, "delete_users", { userIds: [eve.userId] }));
  await assert.rejects(family.act(eve, "Late"), { errorCode: "PUBLIC_KEY_NOT_FOUND" });
  assert.equal(await family.nameOfAnn(), "ann");
});

onBothDatabases("a parent's pages travel once for each of its states", async (rig) => {
  const family = await createFamily(rig);
  await family.act(rig.root, "First");
  const sent: Request<"prepare">[] = [];
  const { request } = rig.link;
  rig.link.request = (async (kind: "prepare", message: never) => {
    if (kind === "prepare") sent.push(message);
    return request(kind, message);
  }) as typeof request;
  const pagesSent = () => sent.splice(0).map(({ others }) => others.flatMap(({ pages }) => pages.length));
  await family.act(rig.root, "Second");
  assert.deepEqual(pagesSent(), [[0]], "one question, and the parent's header alone");
  await rig.submit(rig.root, "create_user_tag", { userTagName: "moves the parent", userIds: [] });
  sent.length = 0;
  await family.act(rig.root, "Third");
  // Its policies page was never written, so there is none to bring.
  assert.deepEqual(pagesSent(), [[0], [1, 0, 1]]);
});

onBothDatabases("acts in many children at once move the parent not at all", async (rig) => {
  const families = [];
  for (let index = 0; index < 8; index++) families.push(await createFamily(rig));
  const before = await findVersion(rig.store, rig.organizationId);
  const acts = families.flatMap(({ act }) => [act(rig.root, "One"), act(rig.root, "Two")]);
  for (const { status } of await Promise.all(acts)) assert.equal(status, completed);
  assert.equal(await findVersion(rig.store, rig.organizationId), before);
});
