/** App proofs over gateway, signer and database: who gets them, when, and what they say. */
import assert from "node:assert/strict";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { openedProofs, provenBody, readProof, replayed } from "../../../test/app_proofs.ts";
import { type GatewayRig, inProcess, newUser, Refused } from "../../../test/gateway_rig.ts";
import { ask, onBothDatabases } from "../../../test/policy_rig.ts";
import { getActivity } from "../../queries/get_activity.ts";
import { listActivities } from "../../queries/list_activities.ts";
import { listAppProofs } from "../../queries/list_app_proofs.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { sha256 } from "../../state/digest.ts";
import { findAppProofs } from "../../store/app_proofs.ts";
import { createCommitter } from "./committer.ts";

const account = (index: number) => ({
  curve: "CURVE_SECP256K1",
  pathFormat: "PATH_FORMAT_BIP32",
  path: `m/44'/60'/0'/0/${index}`,
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
});

const wallet = (walletName: string) => ({ walletName, accounts: [account(0), account(1)] });

async function headerOf({ store, organizationId }: GatewayRig): Promise<Uint8Array> {
  const { header } = await store.db
    .selectFrom("organizations")
    .select("header")
    .where("organization_id", "=", organizationId)
    .executeTakeFirstOrThrow();
  return withoutMac(header);
}

onBothDatabases("a wallet with the flag is proven: each account, and the decision on the state before", async (rig) => {
  const before = toHex(sha256(await headerOf(rig)));
  const body = provenBody(rig, "create_wallet", wallet("Proven"));
  const { id, appProofs, result } = await rig.send(rig.root, "create_wallet", body);
  const { walletId, addresses } = result.createWalletResult as { walletId: string; addresses: string[] };
  const read = appProofs.map(readProof);
  assert.deepEqual(
    read.slice(0, 2).map(({ address }) => address),
    addresses.map((address, index) => ({
      organizationId: rig.organizationId,
      walletId,
      derivationPath: account(index).path,
      address,
    })),
  );
  const { outcome, timestampMs } = read[2] ?? assert.fail();
  assert.equal(timestampMs, String(rig.signer.clock.nowMs));
  const { decisionContextDigest, userRequestApprovals, ...rest } = outcome ?? assert.fail();
  const { organizationId } = rig;
  assert.deepEqual(rest, { organizationId, outcome: "OUTCOME_ALLOW", organizationDataDigest: before });
  assert.match(decisionContextDigest, /^[0-9a-f]{64}$/);
  assert.deepEqual(
    userRequestApprovals.map(({ userId, timestampMs: at }) => [userId, at]),
    [[rig.root.userId, timestampMs]],
  );
  assert.equal(await replayed(rig, rig.root, appProofs[2]), "OUTCOME_ALLOW");

  // The same bytes again, a look, a list: one text.
  assert.deepEqual((await rig.send(rig.root, "create_wallet", body)).appProofs, appProofs);
  await rig.dependencies.committer.settle();
  const { activity } = (await ask(rig, rig.root, getActivity, { activityId: id })) as { activity: { id: string } };
  assert.equal(activity.id, id);
  assert.deepEqual(await ask(rig, rig.root, listAppProofs, { activityId: id }), { appProofs });
  const { activities } = (await ask(rig, rig.root, listActivities)) as { activities: { id: string; appProofs: [] }[] };
  assert.deepEqual(activities.find((one) => one.id === id)?.appProofs, appProofs);
});

onBothDatabases("without the flag nothing is made and nothing is stored", async (rig) => {
  const { id, appProofs } = await rig.submit(rig.root, "create_wallet", wallet("Plain"));
  assert.deepEqual(appProofs, []);
  assert.deepEqual(await ask(rig, rig.root, listAppProofs, { activityId: id }), { appProofs: [] });
  for (const table of ["app_proofs", "decision_contexts"] as const) {
    assert.deepEqual(await rig.store.db.selectFrom(table).selectAll().execute(), []);
  }
});

onBothDatabases("pages that many decisions were taken on are kept once", async (rig) => {
  const { result } = await rig.submit(rig.root, "create_wallet", wallet("Signing"));
  const { addresses } = result.createWalletResult as { addresses: [string] };
  const sign = (payload: string) =>
    rig.send(
      rig.root,
      "sign_raw_payload",
      provenBody(rig, "sign_raw_payload", {
        signWith: addresses[0],
        payload,
        encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
        hashFunction: "HASH_FUNCTION_KECCAK256",
      }),
    );
  const signed = [await sign("a"), await sign("b"), await sign("c")];
  const rows = await rig.store.db.selectFrom("decision_contexts").select("digest").execute();
  // The state is the same: its directory and members, and three contexts.
  assert.equal(rows.length, 2 + 3);
  for (const { appProofs } of signed) assert.equal(await replayed(rig, rig.root, appProofs[0]), "OUTCOME_ALLOW");
});

onBothDatabases("an activity that waits has none; they are made when it is executed, whoever votes", async (rig) => {
  const { organizationId, people } = await rig.newSubOrganization(2, ["Ann", "Bob"]);
  const [ann, bob] = [people[0] ?? assert.fail(), people[1] ?? assert.fail()];
  const body = provenBody(rig, "create_wallet", wallet("Shared"), { organizationId });
  const waiting = await rig.send(ann, "create_wallet", body);
  assert.equal(waiting.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
  assert.deepEqual(waiting.appProofs, []);
  assert.equal(await findAppProofs(rig.store, organizationId, waiting.id), undefined);
  const { fingerprint } = waiting;
  const done = await rig.submit(bob, "approve_activity", { fingerprint }, { organizationId });
  assert.equal(done.status, "ACTIVITY_STATUS_COMPLETED");
  assert.equal(done.appProofs.length, 3);
  const { outcome } = readProof(done.appProofs[2] ?? assert.fail());
  assert.deepEqual(
    outcome?.userRequestApprovals.map(({ userId }) => userId),
    [ann.userId, bob.userId],
  );
  assert.equal(await replayed(rig, bob, done.appProofs[2], organizationId), "OUTCOME_ALLOW");
  assert.deepEqual((await rig.send(ann, "create_wallet", body)).appProofs, done.appProofs);
});

onBothDatabases("a refusal is proven, too: by a policy, or because none allows it", async (rig) => {
  const ann = await rig.newPerson("Ann");
  const tag = (userTagName: string) => provenBody(rig, "create_user_tag", { userTagName, userIds: [] });
  const refusedBy = async (body: Uint8Array) => {
    await assert.rejects(rig.send(ann, "create_user_tag", body), Refused);
    const fingerprint = toHex(sha256(body));
    const { activity_id } = await rig.store.db
      .selectFrom("activities")
      .select("activity_id")
      .where("fingerprint", "=", fingerprint)
      .executeTakeFirstOrThrow();
    const [proof, ...others] = (await openedProofs(rig, activity_id)) ?? assert.fail();
    assert.deepEqual(others, []);
    const outcome = await replayed(rig, ann, proof);
    assert.equal(readProof(proof ?? assert.fail()).outcome?.outcome, outcome);
    return outcome;
  };
  assert.equal(await refusedBy(tag("one")), "OUTCOME_DENY_IMPLICIT");
  const condition = "activity.action == 'CREATE'";
  const policy = { policyName: "No tags", effect: "EFFECT_DENY", condition, notes: "" };
  await rig.submit(rig.root, "create_policy", policy);
  assert.equal(await refusedBy(tag("two")), "OUTCOME_DENY_EXPLICIT");
});

onBothDatabases("a crash between commit and opening loses no proof: the first reader has it opened", async (rig) => {
  const { committer } = rig.dependencies;
  rig.dependencies.committer = { ...committer, openReleased: async () => undefined };
  const body = provenBody(rig, "create_wallet", wallet("Crashed"));
  const { id, appProofs } = await rig.send(rig.root, "create_wallet", body);
  assert.deepEqual(appProofs, []);
  await committer.settle();
  // Another process, with the memory that released it.
  const restarted = inProcess(rig.signer.restart());
  rig.dependencies.committer = createCommitter(rig.store, restarted);
  const opened = await openedProofs(rig, id);
  assert.equal(opened?.length, 3);
  opened?.forEach(readProof);
  await rig.dependencies.committer.settle();
  assert.deepEqual(await ask(rig, rig.root, listAppProofs, { activityId: id }), { appProofs: opened });
});

onBothDatabases("proofs of a new organization's wallet name it, and the decision is its parent's", async (rig) => {
  const { user } = newUser("Ann");
  const parameters = { subOrganizationName: "Sub", rootUsers: [user], rootQuorumThreshold: 1, wallet: wallet("First") };
  const body = provenBody(rig, "create_sub_organization", parameters);
  const { appProofs, result } = await rig.send(rig.root, "create_sub_organization", body);
  const { subOrganizationId } = result.createSubOrganizationResultV8 as { subOrganizationId: string };
  const [first, second, decision] = appProofs.map(readProof);
  for (const proof of [first, second]) assert.equal(proof?.address?.organizationId, subOrganizationId);
  assert.equal(decision?.outcome?.organizationId, rig.organizationId);
  assert.equal(await replayed(rig, rig.root, appProofs[2]), "OUTCOME_ALLOW");
});
