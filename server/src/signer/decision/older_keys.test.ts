/** Keys from before there were tags: their ids stay valid, and everything can still be done with them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { toSentence } from "@keystead/core/keys/mnemonic.ts";
import { nobleKeyMaths } from "@keystead/core/keys/noble_key_maths.ts";
import { p256 } from "@noble/curves/nist.js";
import { exportClient } from "../../../test/imports.ts";
import { keyOfFormat1, keyRecordOf } from "../../../test/key_formats.ts";
import { createPolicySigner, type PolicySigner } from "../../../test/policy_signer_rig.ts";
import { only } from "../../../test/signer_rig.ts";
import { objectId } from "../../state/derived_id.ts";
import { recordIdOf } from "../../state/records.ts";
import { decodeWalletSecret } from "../../state/wallet_secret.ts";
import { createSealer } from "../secrets/seal.ts";
import { secretContext } from "./key_records.ts";

type Old = {
  world: PolicySigner;
  privateKeyId: string;
  walletId: string;
  walletAccountId: string;
  address: string;
  /** What was sealed, by the id of its record. */
  secrets: ReadonlyMap<string, Uint8Array>;
};

/** An organization whose keys were all made before there were tags: ids are a hash of organization, body and index. */
function createOld(): Old {
  const world = createPolicySigner();
  const { rig, organizationId, committed } = world.quorum;
  const key = { privateKeyName: "Hot", curve: "CURVE_P256", privateKeyTags: [], addressFormats: [] };
  world.done("ann", "ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2", { privateKeys: [key] });
  const makers = committed.filter(({ records }) => records.length > 0);
  const [wallet, keys] = makers.map(({ activity }) => activity?.fingerprint);
  const idOf = (fingerprint: Uint8Array | undefined, index: number) =>
    objectId(uuidToBytes(organizationId), fingerprint ?? assert.fail(), index);
  const [walletId, walletAccountId, privateKeyId] = [idOf(wallet, 0), idOf(wallet, 1), idOf(keys, 0)];
  const idsOf = { wallet: { walletId }, walletAccount: { walletId, walletAccountId }, privateKey: { privateKeyId } };
  const old = world.records.map((row) => keyOfFormat1(rig, row, idsOf[keyRecordOf(row).kind]));
  world.records.splice(0, world.records.length, ...old);
  const sealer = createSealer(rig.rootKey, 1);
  const secrets = old.map((row): [string, Uint8Array] => {
    const record = keyRecordOf(row);
    return [recordIdOf(record), sealer.unseal(secretContext(record), row.sealed)];
  });
  return {
    world,
    privateKeyId,
    walletId,
    walletAccountId,
    address: world.wallet.addresses[0],
    secrets: new Map(secrets),
  };
}

test("a key from before there were tags signs, is exported and is deleted, and does not come back", () => {
  const { world, privateKeyId, secrets } = createOld();
  const secret = secrets.get(privateKeyId) ?? assert.fail();
  const choices = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_NO_OP" };
  const asked = { ...choices, signWith: privateKeyId, payload: "11".repeat(32) };
  const { r, s } = world.done<{ r: string; s: string }>("ann", "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", asked);
  const options = { prehash: false, lowS: false };
  assert.ok(p256.verify(fromHex(r + s), new Uint8Array(32).fill(0x11), p256.getPublicKey(secret), options));

  const client = exportClient();
  const { exportBundle } = world.done<{ exportBundle: string }>("ann", "ACTIVITY_TYPE_EXPORT_PRIVATE_KEY", {
    privateKeyId,
    targetPublicKey: client.targetPublicKey,
  });
  assert.equal(toHex(client.read(exportBundle)), toHex(secret));

  // It counts as exported, under its own id.
  world.done("ann", "ACTIVITY_TYPE_DELETE_PRIVATE_KEYS", { privateKeyIds: [privateKeyId] });
  const again = only(world.bring("ann", world.payload("aa", privateKeyId))).activity;
  assert.match(again?.failure ?? "", /Could not find any resource to sign with/);
});

test("a wallet and an account from before there were tags sign, are exported and are deleted", () => {
  const { world, walletId, walletAccountId, address, secrets } = createOld();
  const { r } = world.done<{ r: string }>("ann", "ACTIVITY_TYPE_SIGN_RAW_PAYLOAD_V2", {
    ...{ encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_SHA256" },
    ...{ signWith: address, payload: "aa" },
  });
  assert.equal(r.length, 64);
  const exported = (type: string, parameters: object) => {
    const { targetPublicKey, read } = exportClient();
    return read(world.done<{ exportBundle: string }>("ann", type, { ...parameters, targetPublicKey }).exportBundle);
  };
  const scalar = exported("ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT", { address });
  assert.equal(toHex(scalar), toHex(secrets.get(walletAccountId) ?? assert.fail()));
  const { entropy } = decodeWalletSecret(secrets.get(walletId) ?? assert.fail());
  const words = toSentence(nobleKeyMaths, { entropy, language: "MNEMONIC_LANGUAGE_ENGLISH" });
  assert.deepEqual(Buffer.from(exported("ACTIVITY_TYPE_EXPORT_WALLET", { walletId })), Buffer.from(words));
  world.done("ann", "ACTIVITY_TYPE_UPDATE_WALLET", { walletId, walletName: "Renamed" });

  world.done("ann", "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS", { walletAccountIds: [walletAccountId] });
  world.done("ann", "ACTIVITY_TYPE_DELETE_WALLETS", { walletIds: [walletId] });
  for (const [body, failure] of [
    [world.payload("aa"), /Could not find any resource to sign with/],
    [
      world.quorum.body("ACTIVITY_TYPE_EXPORT_WALLET", { walletId, targetPublicKey: exportClient().targetPublicKey }),
      /unable to find wallet/,
    ],
  ] as const) {
    assert.match(only(world.bring("ann", body)).activity?.failure ?? "", failure);
  }
});
