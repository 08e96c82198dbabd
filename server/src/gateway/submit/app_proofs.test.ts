/** App proofs over gateway, signer and database: who gets them, when, and what they say. */
import assert from "node:assert/strict";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { openedProofs, provenBody, provenParentAct, readProof, replayed } from "../../../test/app_proofs.ts";
import { token, tokenInterface, transferOf } from "../../../test/contract_calls.ts";
import { type GatewayRig, inProcess, newUser, Refused } from "../../../test/gateway_rig.ts";
import { addAccount, addPolicy, ask, onBothDatabases } from "../../../test/policy_rig.ts";
import { freshKey, linkTo, signerWith } from "../../../test/rotation_rig.ts";
import { decideAgain } from "../../proofs/decide_again.ts";
import { parseProofFile } from "../../proofs/proof_file.ts";
import { getActivity } from "../../queries/get_activity.ts";
import { getProofContext } from "../../queries/get_proof_context.ts";
import { listActivities } from "../../queries/list_activities.ts";
import { listAppProofs } from "../../queries/list_app_proofs.ts";
import { longPage } from "../../signer/decision/page_bytes.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { sha256 } from "../../state/digest.ts";
import { findAppProofs } from "../../store/app_proofs.ts";
import { findStateLength } from "../../store/organizations.ts";
import { rotateKeys } from "../operator/rotate_keys.ts";
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
  const { id, fingerprint, appProofs, result } = await rig.send(rig.root, "create_wallet", body);
  const { walletId, addresses } = result.createWalletResult as { walletId: string; addresses: string[] };
  const read = appProofs.map(readProof);
  for (const { activity } of read) assert.deepEqual(activity, { activityId: id, fingerprint });
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

onBothDatabases("of a long page that changes a little with each decision, a little is kept each time", async (rig) => {
  for (const part of ["a", "b", "c", "d"]) {
    const nameOf = (index: number) => `${part} ${index} ${"\u{1f511}".repeat(200)}`;
    const users = Array.from({ length: 100 }, (_, index) => ({ ...newUser(nameOf(index)).user, userTags: [] }));
    await rig.submit(rig.root, "create_users", { users });
  }
  const pages = rig.store.db.selectFrom("pages").select("content").where("name", "=", "members");
  const { content } = await pages.executeTakeFirstOrThrow();
  assert.ok(content.length > longPage, `${content.length}`);
  const bytesKept = async () => {
    const rows = await rig.store.db.selectFrom("decision_contexts").select("content").execute();
    return rows.reduce((sum, { content }) => sum + content.length, 0);
  };
  const renamed = (userName: string) => provenBody(rig, "update_user_name", { userId: rig.root.userId, userName });
  await rig.send(rig.root, "update_user_name", renamed("name 0"));
  const first = await bytesKept();
  for (let n = 1; n <= 5; n++) {
    const { appProofs } = await rig.send(rig.root, "update_user_name", renamed(`name ${n}`));
    assert.equal(await replayed(rig, rig.root, appProofs[0]), "OUTCOME_ALLOW");
  }
  const perAct = ((await bytesKept()) - first) / 5;
  assert.ok(perAct < first / 2, `${perAct} bytes with each, ${first} with the first`);
});

onBothDatabases(
  "of a parent that acts in its sub-organization, the length of its pages is known before",
  async (rig) => {
    const { organizations } = rig.dependencies;
    const lengths: (number | undefined)[] = [];
    const { begin } = organizations;
    organizations.begin = (organizationId, request) => {
      if (organizationId !== rig.organizationId) lengths.push(request.parentLength);
      return begin(organizationId, request);
    };
    await provenParentAct(rig);
    const [length] = lengths.slice(-1);
    assert.ok(length !== undefined && length > 0);
    assert.equal(length, await findStateLength(rig.store, rig.organizationId));
  },
);

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
  const { outcome, activity } = readProof(done.appProofs[2] ?? assert.fail());
  assert.deepEqual(activity, { activityId: waiting.id, fingerprint }, "and not the vote");
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
  const { id, appProofs, result } = await rig.send(rig.root, "create_sub_organization", body);
  const { subOrganizationId } = result.createSubOrganizationResultV8 as { subOrganizationId: string };
  const [first, second, decision] = appProofs.map(readProof);
  for (const proof of [first, second, decision]) assert.equal(proof?.activity.activityId, id);
  for (const proof of [first, second]) assert.equal(proof?.address?.organizationId, subOrganizationId);
  assert.equal(decision?.outcome?.organizationId, rig.organizationId);
  assert.equal(await replayed(rig, rig.root, appProofs[2]), "OUTCOME_ALLOW");
});

onBothDatabases(
  "a parent's act is proven by both states, and the parent's pages are the parent's alone to see",
  async (rig) => {
    for (const state of ["read by the signer", "at hand from before"]) {
      const { organizationId, ann, proof, outcome, file } = await provenParentAct(rig);
      assert.equal(outcome.parentOrganizationDataDigest, toHex(sha256(await headerOf(rig))));
      await assert.rejects(
        replayed(rig, ann, proof, organizationId),
        /the directory of the parent's state is missing/,
        state,
      );
      assert.equal(decideAgain(parseProofFile(file)).outcome, "OUTCOME_ALLOW", state);
    }
  },
);

onBothDatabases(
  "the interface that a call was read by goes with the context, also where the signer had it at hand",
  async (rig) => {
    const dave = await rig.newPerson("dave");
    const { address: signWith } = await addAccount(rig);
    await addPolicy(rig, { condition: `eth.tx.contract_call_args['amount'] <= 1000` });
    await rig.submit(rig.root, "create_smart_contract_interface", {
      smartContractAddress: token,
      smartContractInterface: tokenInterface,
      type: "SMART_CONTRACT_INTERFACE_TYPE_ETHEREUM",
      label: "Token",
    });
    const parameters = (amount: bigint) => ({
      signWith,
      type: "TRANSACTION_TYPE_ETHEREUM",
      unsignedTransaction: transferOf(amount),
    });
    await rig.submit(dave, "sign_transaction", parameters(1n));
    const { appProofs } = await rig.send(dave, "sign_transaction", provenBody(rig, "sign_transaction", parameters(2n)));
    assert.equal(await replayed(rig, dave, appProofs[0]), "OUTCOME_ALLOW");
  },
);

onBothDatabases("a context that is gone, a part that is gone, or another's digest: the query says so", async (rig) => {
  const { appProofs } = await rig.send(rig.root, "create_wallet", provenBody(rig, "create_wallet", wallet("Gone")));
  const proof = appProofs[2] ?? assert.fail();
  const digest = readProof(proof).outcome?.decisionContextDigest ?? "";
  const { organizationId, people } = await rig.newSubOrganization(1, ["Ann"]);
  await assert.rejects(ask(rig, people[0] ?? assert.fail(), getProofContext, { digest }, { organizationId }), {
    code: "not_found",
    message: `unable to find decision context ${digest} in organization ${organizationId}`,
  });
  const parts = rig.store.db.deleteFrom("decision_contexts").where("digest", "!=", digest);
  await parts.execute();
  await assert.rejects(replayed(rig, rig.root, proof), /the directory of the state is missing/);
  await rig.store.db.deleteFrom("decision_contexts").execute();
  await assert.rejects(ask(rig, rig.root, getProofContext, { digest }), { code: "not_found" });
});

onBothDatabases("after the root key was rotated the boxes open under the new one", async (rig) => {
  const { committer } = rig.dependencies;
  rig.dependencies.committer = { ...committer, openReleased: async () => undefined };
  const { id } = await rig.send(rig.root, "create_wallet", provenBody(rig, "create_wallet", wallet("Rotated")));
  await committer.settle();
  const keys = { current: freshKey(), retiring: rig.signer.rootKey };
  await rotateKeys(rig.store, linkTo(await signerWith(rig, keys, true)));
  const operations = await signerWith(rig, { current: keys.current }, false);
  rig.dependencies.committer = createCommitter(rig.store, inProcess({ operations }));
  assert.equal((await openedProofs(rig, id))?.length, 3);
});
