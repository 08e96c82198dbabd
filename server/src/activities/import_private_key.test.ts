import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { type Curve, curveNames, keyCurves, publicKeyOf } from "@keystead/core/keys/key_curves.ts";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { encryptTo } from "../../test/imports.ts";
import { type KeyAccessContent, testKeyAccess } from "../../test/key_access.ts";
import { after, organization, person } from "../../test/members.ts";
import { nodeKeyMaths } from "../curves/node_key_maths.ts";
import { put, remove } from "../state/entities.ts";
import { importPrivateKey } from "./import_private_key.ts";
import { initImportPrivateKey } from "./init_import_private_key.ts";
import { initImportWallet } from "./init_import_wallet.ts";

const members = organization({ users: [person("ann")] });
const secret = fromHex("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80");

type Import = {
  curve?: Curve;
  addressFormats?: ("ADDRESS_FORMAT_ETHEREUM" | "ADDRESS_FORMAT_SOLANA" | "ADDRESS_FORMAT_COMPRESSED")[];
  privateKeyName?: string;
  content?: KeyAccessContent;
};

/** An import of these bytes, with a target of its own. */
function importBytes(bytes: Uint8Array, options: Import = {}) {
  const { curve = "CURVE_SECP256K1", addressFormats = [], privateKeyName = "Main", content } = options;
  const init = runActivity(initImportPrivateKey, members, { userId: "ann" }, { newId: () => "target" });
  const encryptedBundle = encryptTo(init.result.importBundle, bytes);
  const params = { userId: "ann", privateKeyName, encryptedBundle, curve, addressFormats };
  return runActivity(importPrivateKey, after(members, init), params, { keys: testKeyAccess(content) });
}

test("the key comes in with its addresses, the target goes, and the key counts", () => {
  const { changes, records, result } = importBytes(secret, {
    addressFormats: ["ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_COMPRESSED"],
  });
  assert.deepEqual(changes, [
    remove("importTarget", "target"),
    put("keyCounts", { ...members.keyCounts, privateKeys: 1 }),
  ]);
  const addresses = [
    { format: "ADDRESS_FORMAT_ETHEREUM", address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266" },
    {
      format: "ADDRESS_FORMAT_COMPRESSED",
      address: "038318535b54105d4a7aae60c08fc45f9687181b4fdfc625bd1a753fa7397fed75",
    },
  ];
  assert.deepEqual(result, { privateKeyId: "new 0", addresses });
  const [key] = records ?? [];
  assert.deepEqual(key?.secret, secret);
  assert.deepEqual(key?.record, {
    kind: "privateKey",
    organizationId: "acme",
    privateKeyId: "new 0",
    tag: key?.record.tag,
    privateKeyName: "Main",
    curve: "CURVE_SECP256K1",
    publicKey: toHex(publicKeyOf(nodeKeyMaths, "CURVE_SECP256K1", secret).uncompressed),
    addresses,
    imported: true,
    createdAtMs: nowMs,
  });
});

test("what is no private key of its curve is refused without being repeated", () => {
  const wrongLength = { code: "invalid_argument", message: "invalid private key: expected 32 bytes" };
  const outOfRange = { code: "invalid_argument", message: "invalid private key: not in the curve's range" };
  for (const curve of curveNames) {
    for (const length of [0, 31, 33, 64]) {
      assert.throws(() => importBytes(new Uint8Array(length).fill(1), { curve }), wrongLength);
    }
    const { order } = keyCurves[curve];
    if (order === undefined) {
      assert.ok(importBytes(new Uint8Array(32), { curve }));
      continue;
    }
    for (const bytes of [new Uint8Array(32), order, new Uint8Array(32).fill(0xff)]) {
      assert.throws(() => importBytes(bytes, { curve }), outOfRange);
    }
    const last = Uint8Array.from(order);
    last[31] = (last[31] ?? 0) - 1;
    assert.deepEqual(importBytes(last, { curve }).records?.[0]?.secret, last);
  }
});

test("a key that the organization has is refused by its id, until that one is deleted", () => {
  const records = [...(importBytes(secret).records ?? [])];
  const options = { privateKeyName: "Again", content: { records } };
  assert.throws(() => importBytes(secret, options), {
    code: "already_exists",
    message: "private key with ID new 0 has already been imported in this organization",
  });
  const facts = [{ id: "new 0", kind: "privateKey", deleted: true, updatedAtMs: nowMs } as const];
  assert.ok(importBytes(secret, { ...options, content: { records, facts } }));
});

test("a wallet's target does not take a private key", () => {
  const init = runActivity(initImportWallet, members, { userId: "ann" });
  const encryptedBundle = encryptTo(init.result.importBundle, secret);
  const params = { userId: "ann", privateKeyName: "Main", encryptedBundle, curve: "CURVE_P256" as const };
  assert.throws(() => runActivity(importPrivateKey, after(members, init), { ...params, addressFormats: [] }), {
    code: "invalid_argument",
    message: /^invalid encrypted bundle/,
  });
});

test("names, formats and the limit are checked before the bundle is opened", () => {
  const records = [...(importBytes(secret).records ?? [])];
  const params = {
    userId: "ann",
    privateKeyName: "main",
    encryptedBundle: "no bundle at all",
    curve: "CURVE_P256" as const,
    addressFormats: [],
  };
  assert.throws(() => runActivity(importPrivateKey, members, params, { keys: testKeyAccess({ records }) }), {
    message: /private key label must be unique/,
  });
  const wrongCurve = { ...params, addressFormats: ["ADDRESS_FORMAT_SOLANA" as const] };
  assert.throws(() => runActivity(importPrivateKey, members, wrongCurve), {
    message: "invalid curve: ADDRESS_FORMAT_SOLANA needs CURVE_ED25519",
  });
  const limits = { privateKeysPerOrganization: 0 };
  assert.throws(() => runActivity(importPrivateKey, members, params, { limits }), { code: "resource_exhausted" });
});
