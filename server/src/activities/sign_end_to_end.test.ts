/** Signing over gateway, signer and both databases: what is answered, what is refused, and what is kept of it. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import { createGatewayRig, type GatewayRig, Refused } from "../../test/gateway_rig.ts";
import { junkAccount, junkPrivateKey, keepRecords } from "../../test/known_keys.ts";
import { dialects } from "../../test/open_test_store.ts";
import { bitcoinPsbt, ethereumVectors } from "../../test/transactions.ts";

const path = "m/44'/60'/0'/0/0";
const hello = {
  payload: "hello",
  encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
  hashFunction: "HASH_FUNCTION_KECCAK256",
} as const;
/** Of `hello` by the first Ethereum key. */
const signature = {
  r: "73eebf81a611136662d65778960c853fdcaf6eca86793ed9cabc30f2195937af",
  s: "78a07e601627da5b4cc80c0ab35f6894da19b4a01759d90c101d9c9dd1c6745d",
  v: "00",
};

/** A refusal that was stored, with its gRPC code. */
function refused(code: number, message: string) {
  return (error: unknown) => {
    assert.ok(error instanceof Refused);
    assert.equal(error.failure.code, code);
    assert.match(error.message, new RegExp(message));
    return true;
  };
}

const missing = refused(5, "^Could not find any resource to sign with.$");

/** The rig's organization with one account and one private key of the same secret. */
async function withKeys(rig: GatewayRig): Promise<{ address: string; privateKeyId: string; taproot: string }> {
  const { organizationId } = rig;
  const account = junkAccount(organizationId, {
    curve: "CURVE_SECP256K1",
    path,
    addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  });
  const key = junkPrivateKey(organizationId, {
    curve: "CURVE_SECP256K1",
    path,
    addressFormats: ["ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR"],
  });
  const { address } = account.record;
  const { privateKeyId, addresses } = key.record;
  await keepRecords(rig, [account, key]);
  return { address, privateKeyId, taproot: addresses[0]?.address ?? "" };
}

for (const dialect of dialects) {
  test(`on ${dialect}: an account signs payloads and transactions, a private key by its id and its address`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { address, privateKeyId, taproot } = await withKeys(rig);
    const one = await rig.submit(rig.root, "sign_raw_payload", { signWith: address.toLowerCase(), ...hello });
    assert.equal(one.status, "ACTIVITY_STATUS_COMPLETED");
    assert.deepEqual(one.result, { signRawPayloadResult: signature });
    assert.deepEqual(one.intent, { signRawPayloadIntentV2: { signWith: address.toLowerCase(), ...hello } });
    const { payload, ...choices } = hello;
    const several = { signWith: privateKeyId, payloads: Array(1_000).fill(payload), ...choices };
    const batch = await rig.submit(rig.root, "sign_raw_payloads", several);
    assert.deepEqual(batch.result, { signRawPayloadsResult: { signatures: Array(1_000).fill(signature) } });
    const { unsigned, signed } = ethereumVectors.eip1559;
    const ethereum = { signWith: address, type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: `0x${unsigned}` };
    const sent = await rig.submit(rig.root, "sign_transaction", ethereum);
    assert.deepEqual(sent.result, { signTransactionResult: { signedTransaction: signed } });
    const psbt = { signWith: taproot, type: "TRANSACTION_TYPE_BITCOIN", unsignedTransaction: bitcoinPsbt() };
    const { result } = await rig.submit(rig.root, "sign_transaction", psbt);
    assert.deepEqual(result, { signTransactionResult: { signedTransaction: bitcoinPsbt(["p2tr"]) } });
  });

  test(`on ${dialect}: the first versions take a private key's id, and nobody's address`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { privateKeyId, address, taproot } = await withKeys(rig);
    const asFirstVersion = (body: Uint8Array, type: string) => {
      return Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(body).toString()), type }));
    };
    const raw = rig.body("sign_raw_payload", { privateKeyId, ...hello });
    const payload = await rig.send(rig.root, "sign_raw_payload", asFirstVersion(raw, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD"));
    assert.deepEqual(payload.result, { signRawPayloadResult: signature });
    const { unsigned, signed } = ethereumVectors.legacy;
    const parameters = { privateKeyId, type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: unsigned };
    const unsent = rig.body("sign_transaction", parameters);
    const transaction = await rig.send(
      rig.root,
      "sign_transaction",
      asFirstVersion(unsent, "ACTIVITY_TYPE_SIGN_TRANSACTION"),
    );
    assert.deepEqual(transaction.result, { signTransactionResult: { signedTransaction: signed } });
    // A policy that tells private keys from accounts by the type must not be passed by with the older one.
    for (const named of [address, address.toLowerCase(), taproot]) {
      const refusal = { code: "invalid_argument", message: /privateKeyId/ };
      const own = rig.body("sign_raw_payload", { privateKeyId: named, ...hello });
      const first = asFirstVersion(own, "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD");
      await assert.rejects(rig.send(rig.root, "sign_raw_payload", first), refusal);
      const other = rig.body("sign_transaction", { ...parameters, privateKeyId: named });
      const second = asFirstVersion(other, "ACTIVITY_TYPE_SIGN_TRANSACTION");
      await assert.rejects(rig.send(rig.root, "sign_transaction", second), refusal);
    }
  });

  test(`on ${dialect}: bad input is refused and kept as failed, without a signature`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { address } = await withKeys(rig);
    const digest = { ...hello, hashFunction: "HASH_FUNCTION_NO_OP" };
    await assert.rejects(
      rig.submit(rig.root, "sign_raw_payload", { signWith: address, ...digest }),
      refused(3, "^expected a 32-bytes-long digest: hash the payload first, or choose HASH_FUNCTION_SHA256 "),
    );
    await assert.rejects(rig.submit(rig.root, "sign_raw_payload", { signWith: randomUUID(), ...hello }), missing);
    const unknown = { signWith: "0x0000000000000000000000000000000000000001", ...hello };
    await assert.rejects(rig.submit(rig.root, "sign_raw_payload", unknown), missing);
    const malformed = { signWith: address, type: "TRANSACTION_TYPE_ETHEREUM", unsignedTransaction: "0x02c0" };
    await assert.rejects(
      rig.submit(rig.root, "sign_transaction", malformed),
      refused(3, "^failed to parse transaction: "),
    );
    const rows = await rig.store.db
      .selectFrom("activities")
      .select(["status", "result"])
      .where("type", "like", "ACTIVITY_TYPE_SIGN_%")
      .execute();
    assert.deepEqual(rows, Array(4).fill({ status: "ACTIVITY_STATUS_FAILED", result: null }));
    const choices = [
      [{ encoding: "HEX" }, /^invalid payload encoding: /],
      [{ hashFunction: "MD5" }, /^invalid hash function: /],
    ] as const;
    for (const [choice, message] of choices) {
      const misshapen = rig.submit(rig.root, "sign_raw_payload", { signWith: address, ...hello, ...choice });
      await assert.rejects(misshapen, { code: "invalid_argument", message });
    }
  });

  test(`on ${dialect}: who may not sign is refused, and another organization has no such key`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { address, privateKeyId } = await withKeys(rig);
    const eve = await rig.newPerson("eve");
    await assert.rejects(
      rig.submit(eve, "sign_raw_payload", { signWith: address, ...hello }),
      refused(7, "sufficient permissions"),
    );
    const { organizationId, people } = await rig.newSubOrganization(1, ["owner"]);
    const [owner] = people;
    assert.ok(owner);
    for (const signWith of [address, privateKeyId]) {
      await assert.rejects(rig.submit(owner, "sign_raw_payload", { signWith, ...hello }, { organizationId }), missing);
    }
    const asRoot = rig.submit(rig.root, "sign_raw_payload", { signWith: address, ...hello }, { organizationId });
    await assert.rejects(asRoot, { errorCode: "ORGANIZATION_MISMATCH" });
  });

  test(`on ${dialect}: the same body again is the same activity, and leaves the state as it was`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { address } = await withKeys(rig);
    const version = () => rig.store.db.selectFrom("organizations").select("version").execute();
    const before = await version();
    const body = rig.body("sign_raw_payload", { signWith: address, ...hello });
    const first = await rig.send(rig.root, "sign_raw_payload", body);
    assert.deepEqual(await rig.send(rig.root, "sign_raw_payload", body), first);
    await Promise.all([1, 2, 3].map(() => rig.send(rig.root, "sign_raw_payload", body)));
    const { result } = await rig.submit(rig.root, "sign_raw_payload", { signWith: address, ...hello });
    assert.deepEqual(result, first.result);
    assert.deepEqual(await version(), before);
    const rows = await rig.store.db
      .selectFrom("activities")
      .select("activity_id")
      .where("type", "=", "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2")
      .execute();
    assert.equal(rows.length, 2);
  });

  test(`on ${dialect}: a signature that needs consensus exists only after the last approval`, async (t) => {
    const rig = await createGatewayRig(t, dialect);
    if (rig === undefined) return;
    const { address } = await withKeys(rig);
    const bob = await rig.newPerson("bob");
    const userIds = [rig.root.userId, bob.userId];
    await rig.submit(rig.root, "update_root_quorum", { threshold: 2, userIds });
    const waiting = await rig.submit(rig.root, "sign_raw_payload", { signWith: address, ...hello });
    assert.equal(waiting.status, "ACTIVITY_STATUS_CONSENSUS_NEEDED");
    assert.deepEqual(waiting.result, {});
    const approved = await rig.submit(bob, "approve_activity", { fingerprint: waiting.fingerprint });
    assert.equal(approved.status, "ACTIVITY_STATUS_COMPLETED");
    assert.deepEqual(approved.result, { signRawPayloadResult: signature });
  });
}
