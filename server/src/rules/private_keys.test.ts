import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import type { AddressFormat } from "@keystead/core/keys/address_formats.ts";
import type { Curve } from "@keystead/core/keys/key_curves.ts";
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { activityContext } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { getPrivateKey, newPrivateKeyRecord } from "./private_keys.ts";

const keys = testKeyAccess();
const context = activityContext({ keys, nowMs: 5, newId: (tag) => `id of ${tag}` });
/** The first Ethereum account of `test … junk`. */
const junk = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

function make(curve: Curve, addressFormats: readonly AddressFormat[], secret = fromHex(junk)) {
  const names = { organizationId: "acme", privateKeyName: "name" };
  return newPrivateKeyRecord(context, { ...names, curve, addressFormats, imported: false }, secret);
}

test("public key and addresses are those of the secret, the formats in the order asked", () => {
  const { record, secret } = make("CURVE_SECP256K1", ["ADDRESS_FORMAT_COMPRESSED", "ADDRESS_FORMAT_ETHEREUM"]);
  assert.deepEqual(record, {
    kind: "privateKey",
    organizationId: "acme",
    privateKeyId: `id of ${keys.tag("privateKey", fromHex(junk))}`,
    tag: keys.tag("privateKey", fromHex(junk)),
    privateKeyName: "name",
    curve: "CURVE_SECP256K1",
    publicKey: toHex(secp256k1.getPublicKey(fromHex(junk), false)),
    addresses: [
      { format: "ADDRESS_FORMAT_COMPRESSED", address: toHex(secp256k1.getPublicKey(fromHex(junk), true)) },
      { format: "ADDRESS_FORMAT_ETHEREUM", address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266" },
    ],
    imported: false,
    createdAtMs: 5,
  });
  assert.equal(toHex(secret), junk);
});

test("a key needs no address, and its public key is uncompressed where the curve has that form", () => {
  const onP256 = make("CURVE_P256", []).record;
  assert.deepEqual([onP256.publicKey, onP256.addresses], [toHex(p256.getPublicKey(fromHex(junk), false)), []]);
  assert.equal(make("CURVE_ED25519", []).record.publicKey, toHex(ed25519.getPublicKey(fromHex(junk))));
});

test("a format asked for twice is there once", () => {
  const twice = ["ADDRESS_FORMAT_SOLANA", "ADDRESS_FORMAT_SOLANA"] as const;
  assert.equal(make("CURVE_ED25519", twice).record.addresses.length, 1);
});

test("a format of another curve is refused, wherever it stands", () => {
  const refusal = (why: string) => ({ code: "invalid_argument", message: `invalid curve: ${why}` });
  assert.throws(
    () => make("CURVE_P256", ["ADDRESS_FORMAT_COMPRESSED", "ADDRESS_FORMAT_ETHEREUM"]),
    refusal("ADDRESS_FORMAT_ETHEREUM needs CURVE_SECP256K1"),
  );
  assert.throws(
    () => make("CURVE_SECP256K1", ["ADDRESS_FORMAT_SOLANA"]),
    refusal("ADDRESS_FORMAT_SOLANA needs CURVE_ED25519"),
  );
  assert.throws(
    () => make("CURVE_ED25519", ["ADDRESS_FORMAT_UNCOMPRESSED"]),
    refusal("ADDRESS_FORMAT_UNCOMPRESSED needs CURVE_SECP256K1 or CURVE_P256"),
  );
});

test("bytes that are no key of the curve are refused without being told", () => {
  const range = { code: "invalid_argument", message: "invalid private key: not in the curve's range" };
  for (const curve of ["CURVE_SECP256K1", "CURVE_P256"] as const) {
    for (const byte of [0, 255]) assert.throws(() => make(curve, [], new Uint8Array(32).fill(byte)), range);
  }
  assert.equal(make("CURVE_ED25519", [], new Uint8Array(32)).record.addresses.length, 0);
  for (const length of [0, 31, 33, 64]) {
    assert.throws(() => make("CURVE_ED25519", [], new Uint8Array(length)), {
      code: "invalid_argument",
      message: "invalid private key: expected 32 bytes",
    });
  }
});

test("the blind index tells equal secrets of one organization, and no others", () => {
  const { blindIndex } = make("CURVE_SECP256K1", []);
  assert.equal(blindIndex, keys.blindIndex("privateKey", fromHex(junk), "acme"));
  assert.notEqual(blindIndex, keys.blindIndex("privateKey", fromHex(junk), "other"));
});

test("a key is found by its own id only, and not once it is deleted, whoever still sends its record", () => {
  const made = make("CURVE_P256", []);
  const missing = (id: string) => ({
    code: "not_found",
    message: `unable to find private key ${id} in organization acme`,
  });
  const keyAccess = testKeyAccess({ records: [made] });
  const id = made.record.privateKeyId;
  assert.equal(getPrivateKey(keyAccess, "acme", id).privateKeyName, "name");
  assert.throws(() => getPrivateKey(keyAccess, "acme", "other"), missing("other"));
  const facts = { id, kind: "privateKey", deleted: true, updatedAtMs: 6 } as const;
  assert.throws(() => getPrivateKey(testKeyAccess({ records: [made], facts: [facts] }), "acme", id), missing(id));
});
