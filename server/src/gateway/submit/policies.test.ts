/** What policies allow to those who are not root, what they refuse, and what is kept of both. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { exportClient } from "../../../test/imports.ts";
import {
  addAccount,
  addPolicy,
  ask,
  done,
  evaluationsOf,
  hexPayload,
  listedBy,
  onBothDatabases,
  refusalOf,
} from "../../../test/policy_rig.ts";
import { ethereumVectors, pausable } from "../../../test/transactions.ts";
import { getPolicyEvaluations } from "../../queries/get_policy_evaluations.ts";

const type = "TRANSACTION_TYPE_ETHEREUM";
const { unsigned } = ethereumVectors.eip1559;
/** The same, to another address. */
const elsewhere = unsigned.replace(pausable.slice(2), "ab".repeat(20));
const rejected = ["ACTIVITY_STATUS_REJECTED"] as const;

onBothDatabases(
  "a member signs what its policy allows, and nothing else, which is kept as refused and explained",
  async (rig) => {
    const dave = await rig.newPerson("dave");
    const { address, walletId } = await addAccount(rig);
    const sign = (unsignedTransaction: string) =>
      rig.body("sign_transaction", { signWith: address, type, unsignedTransaction });
    const send = (body: Uint8Array) => rig.send(dave, "sign_transaction", body);
    const before = await refusalOf(send(sign(unsigned)));
    assert.deepEqual(before.details, [
      {
        "@type": "type.googleapis.com/errors.v1.PolicyEnginePermissionError",
        message: "No policies evaluated to outcome: Allow",
        policyEvaluations: [],
      },
    ]);
    const condition = `wallet.id == '${walletId}' && eth.tx.to == '${pausable}'`;
    const policyId = await addPolicy(rig, { condition, consensus: `approvers.any(user, user.id == '${dave.userId}')` });
    const denyId = await addPolicy(rig, { effect: "EFFECT_DENY", condition: "solana.tx.instructions.count() > 0" });
    const signed = await send(sign(unsigned));
    assert.equal(signed.status, "ACTIVITY_STATUS_COMPLETED");
    assert.ok((signed.result.signTransactionResult as { signedTransaction: string }).signedTransaction.length > 0);
    assert.deepEqual(await evaluationsOf(rig, signed.id), [{ [policyId]: "OUTCOME_ALLOW", [denyId]: "OUTCOME_ERROR" }]);

    // The newest is listed first, and the rig's clock stands still.
    rig.signer.clock.nowMs += 1_000;
    const body = sign(elsewhere);
    const failure = await refusalOf(send(body));
    assert.deepEqual(
      [failure.code, failure.message],
      [7, "You don't have sufficient permissions to take this action."],
    );
    const [detail] = failure.details as readonly [
      { message: string; policyEvaluations: object[]; explanations: object[] },
    ];
    assert.equal(detail.message, "No policies evaluated to outcome: Allow");
    assert.deepEqual(
      new Set(detail.policyEvaluations),
      new Set([
        { policyId, outcome: "OUTCOME_DENY_IMPLICIT" },
        { policyId: denyId, outcome: "OUTCOME_ERROR" },
      ]),
    );
    assert.deepEqual(await refusalOf(send(body)), failure, "the same bytes, the same answer");

    const activities = await listedBy(rig, dave, { filterByStatus: rejected });
    assert.equal(activities.length, 2);
    const [kept] = activities;
    assert.ok(kept);
    assert.deepEqual(
      [kept.status, kept.result, kept.failure, kept.canApprove],
      ["ACTIVITY_STATUS_REJECTED", {}, undefined, false],
    );
    const { policyEvaluations } = await ask(rig, dave, getPolicyEvaluations, { activityId: kept.id });
    const [entry, ...more] = policyEvaluations;
    assert.deepEqual(more, []);
    assert.equal(entry?.voteId, kept.votes[0]?.id);
    assert.deepEqual(entry?.policyEvaluations, detail.policyEvaluations);
    assert.deepEqual(
      detail.explanations,
      entry?.details.filter((each) => each.policyId === policyId),
    );
    assert.equal(entry?.details.length, 2, "why it was refused can be read later, of every policy");
    const why = entry?.details.find((each) => each.policyId === policyId);
    assert.deepEqual(
      [why?.clause, why?.observed],
      [`eth.tx.to == '${pausable}'`, { "eth.tx.to": `0x${"ab".repeat(20)}` }],
    );
    await assert.rejects(rig.submit(rig.root, "approve_activity", { fingerprint: kept.fingerprint }), {
      code: "permission_denied",
    });
  },
);

onBothDatabases("a denial refuses, is named, and does not stop the root user", async (rig) => {
  const dave = await rig.newPerson("dave");
  const { address } = await addAccount(rig);
  await addPolicy(rig, { condition: "activity.action == 'SIGN'" });
  const denyId = await addPolicy(rig, {
    effect: "EFFECT_DENY",
    condition: "activity.params.encoding == 'PAYLOAD_ENCODING_HEXADECIMAL'",
  });
  const parameters = { signWith: address, payload: "aa", ...hexPayload };
  const failure = await refusalOf(rig.submit(dave, "sign_raw_payload", parameters));
  const [detail] = failure.details as readonly [{ message: string }];
  assert.equal(detail.message, `The following policies denied this action: ${denyId}`);
  const text = { ...parameters, encoding: "PAYLOAD_ENCODING_TEXT_UTF8" };
  assert.equal((await rig.submit(dave, "sign_raw_payload", text)).status, "ACTIVITY_STATUS_COMPLETED");
  const byRoot = await rig.submit(rig.root, "sign_raw_payload", parameters);
  assert.equal(byRoot.status, "ACTIVITY_STATUS_COMPLETED");
  assert.deepEqual(await evaluationsOf(rig, byRoot.id), [{}], "no policy was asked");
});

onBothDatabases(
  "what cannot be read fails where policies would have been asked, and nothing is signed",
  async (rig) => {
    const dave = await rig.newPerson("dave");
    const { address } = await addAccount(rig);
    await addPolicy(rig, {});
    rig.signer.clock.nowMs += 1_000;
    const unsignedTransaction = `${unsigned}00`;
    const failure = await refusalOf(
      rig.submit(dave, "sign_transaction", { signWith: address, type, unsignedTransaction }),
    );
    assert.equal(failure.code, 3);
    assert.match(failure.message, /^failed to parse transaction/);
    const [kept] = await listedBy(rig, dave, {});
    assert.equal(kept?.status, "ACTIVITY_STATUS_FAILED");
    assert.equal(kept?.failure?.message, failure.message);
  },
);

onBothDatabases("names, exports and tags are what they are now", async (rig) => {
  const dave = await rig.newPerson("dave");
  const { address, walletId } = await addAccount(rig);
  const { privateKeys } = await done<{ privateKeys: [{ privateKeyId: string }] }>(
    rig,
    rig.root,
    "create_private_keys",
    {
      privateKeys: [{ privateKeyName: "Key", curve: "CURVE_SECP256K1", addressFormats: [], privateKeyTags: [] }],
    },
  );
  const [{ privateKeyId }] = privateKeys;
  const tag = { privateKeyTagName: "Tag", privateKeyIds: [] };
  const { privateKeyTagId } = await done<{ privateKeyTagId: string }>(rig, rig.root, "create_private_key_tag", tag);
  const does = async (signWith: string) => {
    const parameters = { signWith, payload: "aa", ...hexPayload };
    const answer = await rig.submit(dave, "sign_raw_payload", parameters).catch(refusalIn);
    return "status" in answer ? "signs" : "is refused";
  };
  const { targetPublicKey } = exportClient();
  const rows: readonly { condition: string; signWith: string; change: () => Promise<unknown> }[] = [
    {
      condition: "wallet.label == 'Renamed'",
      signWith: address,
      change: () => done(rig, rig.root, "update_wallet", { walletId, walletName: "Renamed" }),
    },
    {
      condition: "wallet.exported",
      signWith: address,
      change: () => done(rig, rig.root, "export_wallet", { walletId, targetPublicKey }),
    },
    {
      condition: `private_key.tags.contains('${privateKeyTagId}')`,
      signWith: privateKeyId,
      change: () =>
        done(rig, rig.root, "update_private_key_tag", {
          privateKeyTagId,
          addPrivateKeyIds: [privateKeyId],
          removePrivateKeyIds: [],
        }),
    },
    {
      condition: "private_key.exported == true",
      signWith: privateKeyId,
      change: () => done(rig, rig.root, "export_private_key", { privateKeyId, targetPublicKey }),
    },
  ];
  for (const { condition, signWith, change } of rows) {
    const policyId = await addPolicy(rig, { condition });
    assert.equal(await does(signWith), "is refused", condition);
    await change();
    assert.equal(await does(signWith), "signs", condition);
    await done(rig, rig.root, "delete_policy", { policyId });
    assert.equal(await does(signWith), "is refused", condition);
  }
});

onBothDatabases("exports and deletions are allowed by the wallets they are about, and only those", async (rig) => {
  const dave = await rig.newPerson("dave");
  const [mine, other] = [await addAccount(rig), await addAccount(rig)];
  const { targetPublicKey } = exportClient();
  await addPolicy(rig, { condition: `activity.action == 'EXPORT' && wallet.id == '${mine.walletId}'` });
  await addPolicy(rig, { condition: `wallets.all(each, each.id == '${mine.walletId}')` });
  const forbidden = async (request: Promise<unknown>) => assert.equal((await refusalOf(request)).code, 7);
  for (const [path, own, foreign] of [
    ["export_wallet", { walletId: mine.walletId }, { walletId: other.walletId }],
    ["export_wallet_account", { address: mine.address }, { address: other.address }],
  ] as const) {
    await forbidden(rig.submit(dave, path, { ...foreign, targetPublicKey }));
    await done(rig, dave, path, { ...own, targetPublicKey });
  }
  for (const walletIds of [[other.walletId], [mine.walletId, other.walletId]]) {
    await forbidden(rig.submit(dave, "delete_wallets", { walletIds, deleteWithoutExport: true }));
  }
  const missing = await refusalOf(rig.submit(dave, "delete_wallets", { walletIds: [mine.walletId, randomUUID()] }));
  assert.equal(missing.code, 5, "what is not there is hidden from the policy, and ends it");
  await done(rig, dave, "delete_wallets", { walletIds: [mine.walletId] });
});

onBothDatabases(
  "however much policies have to say, a refusal is kept, and what settled it is explained",
  async (rig) => {
    const dave = await rig.newPerson("dave");
    const kinds = Array.from({ length: 60 }, (_, at) => `'${"K".repeat(30)}${at}'`).join(", ");
    const [allows, denies] = [`activity.kind in [${kinds}]`, `activity.kind in [${kinds}, 'CREATE_USER_TAG']`];
    const policies = Array.from({ length: 200 }, (_, at) => {
      const isDenial = at % 50 === 49;
      const expression = { effect: isDenial ? "EFFECT_DENY" : "EFFECT_ALLOW", condition: isDenial ? denies : allows };
      return { policyName: `Long ${at}`, ...expression };
    });
    for (const from of [0, 100]) {
      await done(rig, rig.root, "create_policies", { policies: policies.slice(from, from + 100) });
    }
    const failure = await refusalOf(rig.submit(dave, "create_user_tag", { userTagName: "Tag", userIds: [] }));
    type Explained = { outcome: string; clause?: string; reason?: string };
    const [detail] = failure.details as readonly [{ policyEvaluations: object[]; explanations: Explained[] }];
    assert.equal(detail.policyEvaluations.length, 200);
    const clause = `${denies.slice(0, 399)}…`;
    assert.deepEqual(
      detail.explanations.map((each) => each.clause),
      Array(3).fill(clause),
    );
    const [kept] = await listedBy(rig, dave, { filterByStatus: rejected });
    const { policyEvaluations } = await ask(rig, dave, getPolicyEvaluations, { activityId: kept?.id ?? "" });
    const all: readonly Explained[] = policyEvaluations[0]?.details ?? [];
    assert.ok(JSON.stringify(all).length < 160 * 1024);
    assert.equal(all.filter(({ outcome }) => outcome === "OUTCOME_DENY_EXPLICIT").length, 4);
    assert.ok(all.length === 100 && all.every((each) => each.clause?.length === 400));
    assert.equal(Object.keys((await evaluationsOf(rig, kept?.id ?? ""))[0] ?? {}).length, 200);
  },
);

function refusalIn(error: unknown): object {
  assert.match(String(error), /sufficient permissions/);
  return {};
}
