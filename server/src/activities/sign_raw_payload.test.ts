import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import type { AddressFormat } from "@keystead/core/keys/address_formats.ts";
import type { Curve } from "@keystead/core/keys/key_curves.ts";
import { schnorr } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { runActivity } from "../../test/activity_context.ts";
import { testKeyAccess } from "../../test/key_access.ts";
import { junkAccount, junkPrivateKey } from "../../test/known_keys.ts";
import { organization, person } from "../../test/members.ts";
import type { KeyAccess } from "../endpoints/key_access.ts";
import type { KeyFacts } from "../state/entities.ts";
import { signRawPayload } from "./sign_raw_payload.ts";

const pages = organization({ users: [person("ann")] });

type Choices = { payload?: string; encoding?: string; hashFunction?: string };

/** `hello`, hashed with SHA-256, unless chosen otherwise. */
function sign(keys: KeyAccess, signWith: string, choices: Choices = {}) {
  const params = {
    signWith,
    payload: "hello",
    encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
    hashFunction: "HASH_FUNCTION_SHA256",
    ...choices,
  };
  return runActivity(signRawPayload, pages, params as never, { keys }).result;
}

const ethereum = junkAccount("acme", {
  curve: "CURVE_SECP256K1",
  path: "m/44'/60'/0'/0/0",
  addressFormat: "ADDRESS_FORMAT_ETHEREUM",
});
const solana = junkAccount("acme", {
  curve: "CURVE_ED25519",
  path: "m/44'/501'/0'/0'",
  addressFormat: "ADDRESS_FORMAT_SOLANA",
});
const keys = testKeyAccess({ records: [ethereum, solana] });

type Vector = {
  curve: Curve;
  path: string;
  addressFormat: AddressFormat;
  hashFunction: string;
  rs: string;
  v: string;
};

/** Signatures of `hello` that several published libraries agree on, one for each scheme and curve. */
const vectors: readonly Vector[] = [
  {
    curve: "CURVE_SECP256K1",
    path: "m/44'/60'/0'/0/0",
    addressFormat: "ADDRESS_FORMAT_ETHEREUM",
    hashFunction: "HASH_FUNCTION_KECCAK256",
    rs: "73eebf81a611136662d65778960c853fdcaf6eca86793ed9cabc30f2195937af78a07e601627da5b4cc80c0ab35f6894da19b4a01759d90c101d9c9dd1c6745d",
    v: "00",
  },
  {
    curve: "CURVE_SECP256K1",
    path: "m/44'/60'/0'/0/0",
    addressFormat: "ADDRESS_FORMAT_COMPRESSED",
    hashFunction: "HASH_FUNCTION_SHA256",
    rs: "eb5ac08b07a64ad61a604657e019ab24426a5caa91ce1f965b5d0f5dbb071268207b8be8393a7978e2aa87d1ef4ff66cc07d6ffd2353bdc779c862f5bfb5b62e",
    v: "00",
  },
  {
    curve: "CURVE_P256",
    path: "m/44'/60'/0'/0/0",
    addressFormat: "ADDRESS_FORMAT_UNCOMPRESSED",
    hashFunction: "HASH_FUNCTION_SHA256",
    rs: "92b8e9bc5132294d1c5dd6832c225ba77514985041b9687b346a73ecf435eeca48f3c4322ddc77b93b47704bef0ce9438704e7b9e9807ef32dfd935835ca4aa8",
    v: "01",
  },
  {
    curve: "CURVE_ED25519",
    path: "m/44'/501'/0'/0'",
    addressFormat: "ADDRESS_FORMAT_SOLANA",
    hashFunction: "HASH_FUNCTION_NOT_APPLICABLE",
    rs: "0379758e89a4cebaf054ef30634c3ace10d90d8a157a61289609f183489e1f085e5149a25b6f8f7c3ab5341fa1e249866d6872f16c9c482dee7ebde748e6b403",
    v: "00",
  },
  {
    curve: "CURVE_SECP256K1",
    path: "m/86'/0'/0'/0/0",
    addressFormat: "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR",
    hashFunction: "HASH_FUNCTION_SHA256",
    rs: "c649c6b676b99c77324d0b96860386aac7c75c8634535d16f1644188b44858e590a43310523b15a94c523cef4f3efc24d73da6dfddc204705e07ca1cc4cbdbe8",
    v: "00",
  },
  {
    curve: "CURVE_SECP256K1",
    path: "m/8797555'/0'/0'",
    addressFormat: "ADDRESS_FORMAT_SPARK_MAINNET",
    hashFunction: "HASH_FUNCTION_SHA256",
    rs: "677dfc9eb668ee6d357e364e8a49f2559dd348bfdd2a882ed5324ea8bcca100aedeca5054f4204f4cb1d7db8cec326e628b3b3364e69d11db10e5d43e56e08a9",
    v: "00",
  },
];

test("every scheme signs as published, chosen by the address format alone", () => {
  for (const { rs, v, hashFunction, ...choice } of vectors) {
    const account = junkAccount("acme", choice);
    const keyAccess = testKeyAccess({ records: [account] });
    const expected = { r: rs.slice(0, 64), s: rs.slice(64), v };
    assert.deepEqual(sign(keyAccess, account.record.address, { hashFunction }), expected, choice.addressFormat);
  }
});

test("a private key signs by any of its addresses, each in its own way, and by its id as its curve does", () => {
  const formats = ["ADDRESS_FORMAT_ETHEREUM", "ADDRESS_FORMAT_BITCOIN_MAINNET_P2TR"] as const;
  const choice = { curve: "CURVE_SECP256K1", path: "m/44'/60'/0'/0/0", addressFormats: formats } as const;
  const key = junkPrivateKey("acme", choice);
  const keyAccess = testKeyAccess({ records: [key] });
  const [ethereumAddress = "", taproot = ""] = key.record.addresses.map(({ address }) => address);
  const ecdsa = sign(keys, ethereum.record.address);
  assert.deepEqual(sign(keyAccess, ethereumAddress), ecdsa);
  assert.deepEqual(sign(keyAccess, key.record.privateKeyId), ecdsa);
  assert.deepEqual(sign(keyAccess, key.record.privateKeyId.toUpperCase()), ecdsa);
  const { r, s } = sign(keyAccess, taproot);
  // The address itself holds the key that verifies it.
  const output = "67610ebf467bd673d7f3aaac71b7354f24de69cbf9ac5b2c1b7b6fe60e2cc45e";
  const digest = sha256(new TextEncoder().encode("hello"));
  assert.ok(schnorr.verify(Buffer.from(r + s, "hex"), digest, Buffer.from(output, "hex")));
});

test("addresses in hex are found in any case, those in base58 only as they are", () => {
  const { address } = ethereum.record;
  assert.deepEqual(sign(keys, address.toLowerCase()), sign(keys, address));
  const notApplicable = { hashFunction: "HASH_FUNCTION_NOT_APPLICABLE" };
  assert.equal(sign(keys, solana.record.address, notApplicable).v, "00");
  assert.throws(() => sign(keys, solana.record.address.toLowerCase(), notApplicable), { code: "not_found" });
});

test("payloads are read as their encoding says", () => {
  const { address } = ethereum.record;
  const digest = toHex(sha256(new TextEncoder().encode("hello")));
  const asText = sign(keys, address);
  const noOp = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_NO_OP" };
  assert.deepEqual(sign(keys, address, { payload: digest, ...noOp }), asText);
  assert.deepEqual(sign(keys, address, { payload: `0x${digest.toUpperCase()}`, ...noOp }), asText);
  const hex = { payload: "0x68656c6c6f", encoding: "PAYLOAD_ENCODING_HEXADECIMAL" };
  assert.deepEqual(sign(keys, address, hex), asText);
  const delegation = {
    payload: JSON.stringify({ address: `0x${"12".repeat(20)}`, chainId: 1, nonce: 5 }),
    encoding: "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION",
    hashFunction: "HASH_FUNCTION_NO_OP",
  };
  const authorization = "fe69d951b1b0bf41a31e61fb663a5ffbb68c742fd496a95c3f97096e10f2b5d4";
  assert.deepEqual(sign(keys, address, delegation), sign(keys, address, { payload: authorization, ...noOp }));
  const mail = {
    types: {
      EIP712Domain: [
        { name: "name", type: "string" },
        { name: "version", type: "string" },
        { name: "chainId", type: "uint256" },
        { name: "verifyingContract", type: "address" },
      ],
      Person: [
        { name: "name", type: "string" },
        { name: "wallet", type: "address" },
      ],
      Mail: [
        { name: "from", type: "Person" },
        { name: "to", type: "Person" },
        { name: "contents", type: "string" },
      ],
    },
    primaryType: "Mail",
    domain: {
      name: "Ether Mail",
      version: "1",
      chainId: "0x1",
      verifyingContract: "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC",
    },
    message: {
      from: { name: "Cow", wallet: "0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826" },
      to: { name: "Bob", wallet: "0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB" },
      contents: "Hello, Bob!",
    },
  };
  const typed = { encoding: "PAYLOAD_ENCODING_EIP712", hashFunction: "HASH_FUNCTION_NO_OP" };
  const typedDigest = "be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2";
  assert.deepEqual(
    sign(keys, address, { payload: JSON.stringify(mail), ...typed }),
    sign(keys, address, { payload: typedDigest, ...noOp }),
  );
});

test("what the key cannot sign is refused in the published words", () => {
  const refusals: [signWith: string, choices: Choices, message: RegExp][] = [
    [
      ethereum.record.address,
      { hashFunction: "HASH_FUNCTION_NO_OP" },
      /^expected a 32-bytes-long digest: hash the payload first, /,
    ],
    [ethereum.record.address, { hashFunction: "HASH_FUNCTION_NOT_APPLICABLE" }, /^invalid hash function/],
    [ethereum.record.address, { encoding: "PAYLOAD_ENCODING_HEXADECIMAL" }, /^invalid payload encoding/],
    [ethereum.record.address, { payload: "\ud800" }, /^invalid payload encoding/],
    [ethereum.record.address, { encoding: "PAYLOAD_ENCODING_EIP712" }, /^invalid hash function/],
    [solana.record.address, {}, /^invalid hash function/],
    [solana.record.address, { hashFunction: "HASH_FUNCTION_NO_OP" }, /^invalid hash function/],
    [solana.record.address, { hashFunction: "HASH_FUNCTION_KECCAK256" }, /^invalid hash function/],
    [solana.record.address, { encoding: "PAYLOAD_ENCODING_EIP712" }, /^invalid payload encoding/],
  ];
  for (const [signWith, choices, message] of refusals) {
    assert.throws(() => sign(keys, signWith, choices), { code: "invalid_argument", message }, JSON.stringify(choices));
  }
});

test("there is nothing to sign with: unknown, deleted, or gone with its wallet", () => {
  const missing = { code: "not_found", message: "Could not find any resource to sign with." };
  const { address, walletId, walletAccountId } = ethereum.record;
  assert.throws(() => sign(keys, "0x0000000000000000000000000000000000000001"), missing);
  assert.throws(() => sign(keys, walletAccountId), missing);
  const facts = (id: string, kind: KeyFacts["kind"]): KeyFacts => ({ id, kind, deleted: true, updatedAtMs: 0 });
  for (const deleted of [facts(walletAccountId, "walletAccount"), facts(walletId, "wallet")]) {
    assert.throws(() => sign(testKeyAccess({ records: [ethereum], facts: [deleted] }), address), missing);
  }
});

test("a record that is not what signWith means is not signed with, whoever sent it", () => {
  const other = junkAccount("acme", {
    curve: "CURVE_SECP256K1",
    path: "m/44'/60'/0'/0/1",
    addressFormat: "ADDRESS_FORMAT_ETHEREUM",
  });
  assert.throws(() => sign(testKeyAccess({ records: [other] }), ethereum.record.address), { code: "not_found" });
  assert.deepEqual(
    sign(testKeyAccess({ records: [other, ethereum] }), ethereum.record.address),
    sign(keys, ethereum.record.address),
  );
});

test("the secret is opened only for a payload that can be signed, and wiped whatever happens", () => {
  const opened: Uint8Array[] = [];
  const watched: KeyAccess = {
    ...keys,
    open(record) {
      const secret = keys.open(record);
      opened.push(secret);
      return secret;
    },
  };
  const { address } = ethereum.record;
  sign(watched, address);
  assert.throws(() => sign(watched, address, { hashFunction: "HASH_FUNCTION_NO_OP" }));
  assert.equal(opened.length, 1);
  const failing: KeyAccess["signing"] = {
    ...keys.signing,
    ecdsa: { ...keys.signing.ecdsa, CURVE_SECP256K1: () => assert.fail("the curve failed") },
  };
  assert.throws(() => sign({ ...watched, signing: failing }, address), /the curve failed/);
  assert.deepEqual(opened, [new Uint8Array(32), new Uint8Array(32)]);
});

test("the first version names a private key by its id", () => {
  const [v1] = signRawPayload.versions ?? [];
  const params = { payload: "00", encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_SHA256" };
  assert.deepEqual(v1?.translate({ privateKeyId: "k", ...params, signWith: "other" } as never), {
    signWith: "k",
    ...params,
  });
});

test("the key it signs with is looked for, and policies see it", () => {
  const params = {
    signWith: "x",
    payload: "",
    encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
    hashFunction: "HASH_FUNCTION_SHA256",
  } as const;
  assert.deepEqual(signRawPayload.records?.(params), [{ by: "signWith", signWith: "x" }]);
  assert.deepEqual(signRawPayload.policySubject?.(params), { by: "signWith", signWith: "x" });
});
