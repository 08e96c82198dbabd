/** Bare payloads: every encoding, hash function and scheme, checked by other libraries. */
import assert from "node:assert/strict";
import { createHash, createPublicKey, verify } from "node:crypto";
import type { TestContext } from "node:test";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { PublicKey } from "@solana/web3.js";
import { keccak256, stringToBytes } from "viem";
import type { KeysteadServer } from "../keystead_server.ts";
import { at, foundOrganization, type Person } from "../published/clients.ts";
import { bundlesOf, signerKeyOf } from "./bundles.ts";

const junk = `${"test ".repeat(11)}junk`;
const secp = { curve: "CURVE_SECP256K1", pathFormat: "PATH_FORMAT_BIP32" } as const;

const accounts = [
  { ...secp, path: "m/44'/60'/0'/0/0", addressFormat: "ADDRESS_FORMAT_ETHEREUM" },
  {
    curve: "CURVE_P256",
    pathFormat: "PATH_FORMAT_BIP32",
    path: "m/44'/60'/0'/0/0",
    addressFormat: "ADDRESS_FORMAT_COMPRESSED",
  },
  {
    curve: "CURVE_ED25519",
    pathFormat: "PATH_FORMAT_BIP32",
    path: "m/44'/501'/0'/0'",
    addressFormat: "ADDRESS_FORMAT_SOLANA",
  },
  { ...secp, path: "m/86'/0'/0'/0/0", addressFormat: "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR" },
  { ...secp, path: "m/8797555'/0'/0'", addressFormat: "ADDRESS_FORMAT_SPARK_MAINNET" },
] as const;

/** Signatures that are determined, made by other libraries with the same keys. */
const expected = {
  keccak:
    "73eebf81a611136662d65778960c853fdcaf6eca86793ed9cabc30f2195937af78a07e601627da5b4cc80c0ab35f6894da19b4a01759d90c101d9c9dd1c6745d00",
  sha256:
    "eb5ac08b07a64ad61a604657e019ab24426a5caa91ce1f965b5d0f5dbb071268207b8be8393a7978e2aa87d1ef4ff66cc07d6ffd2353bdc779c862f5bfb5b62e00",
  p256: "92b8e9bc5132294d1c5dd6832c225ba77514985041b9687b346a73ecf435eeca48f3c4322ddc77b93b47704bef0ce9438704e7b9e9807ef32dfd935835ca4aa801",
  ed25519:
    "0379758e89a4cebaf054ef30634c3ace10d90d8a157a61289609f183489e1f085e5149a25b6f8f7c3ab5341fa1e249866d6872f16c9c482dee7ebde748e6b40300",
};

export async function rawPayloads(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const [owner] = await foundOrganization(server, root, ["Owner"]);
  assert.ok(owner !== undefined);
  const { sdk, userId } = owner;
  const bundles = bundlesOf(owner, await signerKeyOf(server));
  const encryptedBundle = await bundles.encryptWallet(junk);
  const { walletId, addresses } = await sdk.importWallet({
    userId,
    walletName: "Junk",
    encryptedBundle,
    accounts: [...accounts],
  });
  const publicKeys = (await sdk.getWalletAccounts({ walletId })).accounts.map(({ publicKey = "" }) =>
    fromHex(publicKey),
  );

  type Ask = Parameters<typeof sdk.signRawPayload>[0];
  const sign = async (account: number, ask: Omit<Ask, "signWith">) => {
    const { r, s, v } = await sdk.signRawPayload({ signWith: at(addresses, account), ...ask });
    assert.match(r + s + v, /^[0-9a-f]{130}$/);
    return r + s + v;
  };
  const text = { payload: "hello", encoding: "PAYLOAD_ENCODING_TEXT_UTF8" } as const;
  const digest = createHash("sha256").update("hello").digest();
  const rs = (signature: string) => fromHex(signature.slice(0, 128));

  await t.test("the same payload in each encoding and hash function is one signature, the published one", async () => {
    const hex = (payload: string) => ({ payload, encoding: "PAYLOAD_ENCODING_HEXADECIMAL" }) as const;
    const noOp = { hashFunction: "HASH_FUNCTION_NO_OP" } as const;
    const keccak = keccak256(stringToBytes("hello"));
    const helloHex = Buffer.from("hello").toString("hex");
    for (const ask of [
      { ...text, hashFunction: "HASH_FUNCTION_KECCAK256" },
      { ...hex(helloHex), hashFunction: "HASH_FUNCTION_KECCAK256" },
      { ...hex(`0x${helloHex}`), hashFunction: "HASH_FUNCTION_KECCAK256" },
      { ...hex(keccak), ...noOp },
      { ...hex(keccak.slice(2)), ...noOp },
    ] as const) {
      assert.equal(await sign(0, ask), expected.keccak);
    }
    assert.equal(await sign(0, { ...text, hashFunction: "HASH_FUNCTION_SHA256" }), expected.sha256);
    assert.equal(await sign(1, { ...text, hashFunction: "HASH_FUNCTION_SHA256" }), expected.p256);
    assert.equal(await sign(2, { ...text, hashFunction: "HASH_FUNCTION_NOT_APPLICABLE" }), expected.ed25519);
  });

  await t.test("the recovery id leads back to the key", async () => {
    const signature = await sign(0, { ...text, hashFunction: "HASH_FUNCTION_SHA256" });
    const recovered = secp256k1.Signature.fromBytes(
      fromHex(signature.slice(128) + signature.slice(0, 128)),
      "recovered",
    );
    assert.deepEqual(recovered.recoverPublicKey(digest).toBytes(true), publicKeys[0]);
  });

  await t.test("a Taproot address signs with its tweaked key, a Spark address with its own", async () => {
    const taproot = await sign(3, { ...text, hashFunction: "HASH_FUNCTION_SHA256" });
    const spark = await sign(4, { ...text, hashFunction: "HASH_FUNCTION_SHA256" });
    const [taprootKey, sparkKey] = [at(publicKeys, 3).slice(1), at(publicKeys, 4).slice(1)];
    assert.ok(!schnorr.verify(rs(taproot), digest, taprootKey));
    const tweak = secp256k1.Point.Fn.fromBytes(schnorr.utils.taggedHash("TapTweak", taprootKey));
    const tweaked = schnorr.utils
      .lift_x(secp256k1.Point.Fp.fromBytes(taprootKey))
      .add(secp256k1.Point.BASE.multiply(tweak));
    assert.ok(schnorr.verify(rs(taproot), digest, tweaked.toBytes(true).slice(1)));
    assert.ok(schnorr.verify(rs(spark), digest, sparkKey));
    assert.deepEqual([taproot.slice(128), spark.slice(128)], ["00", "00"]);
  });

  await t.test("signRawPayloads signs in order, all or none", async () => {
    const payloads = Array.from({ length: 50 }, (_, index) => `message ${index}`);
    const ask = { encoding: "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction: "HASH_FUNCTION_NOT_APPLICABLE" } as const;
    const { signatures = [] } = await sdk.signRawPayloads({ signWith: at(addresses, 2), payloads, ...ask });
    const x = Buffer.from(new PublicKey(at(addresses, 2)).toBytes()).toString("base64url");
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    assert.equal(signatures.length, payloads.length);
    for (const [index, { r, s }] of signatures.entries()) {
      assert.ok(verify(null, Buffer.from(at(payloads, index)), key, fromHex(r + s)));
    }
  });
}
