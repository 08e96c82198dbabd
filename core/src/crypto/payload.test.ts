import assert from "node:assert/strict";
import { test } from "node:test";
import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync } from "@scure/bip39";
import { findVectors } from "../../test/vectors.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import type { SignatureScheme } from "../keys/key_curves.ts";
import { nobleCurves } from "./noble_curves.ts";
import { nobleSigning } from "./noble_signing.ts";
import {
  checkTotalLength,
  type HashFunction,
  hashFunctions,
  type PayloadEncoding,
  payloadEncodings,
  readPayload,
} from "./payload.ts";
import { signatureSchemes, signBytes, toWireSignature } from "./signing.ts";
import { eip191Digest } from "./stamp.ts";

const typedData = JSON.stringify({
  types: { Root: [{ name: "x", type: "bool" }] },
  primaryType: "Root",
  domain: { chainId: 1 },
  message: { x: true },
});
const authorization = JSON.stringify({ address: `0x${"12".repeat(20)}`, chainId: 1, nonce: 5 });
const digest = "9c22ff5f21f0b81b113e63f7db6da94fedef11b2119b4088b89664fb9a3cb658";

/** A payload of each encoding that is 32 bytes long, so that only the combination decides. */
const payloads: Record<PayloadEncoding, string> = {
  PAYLOAD_ENCODING_HEXADECIMAL: digest,
  PAYLOAD_ENCODING_TEXT_UTF8: "thirty-two characters of a text!",
  PAYLOAD_ENCODING_EIP712: typedData,
  PAYLOAD_ENCODING_EIP7702_AUTHORIZATION: authorization,
};

const encodings = Object.keys(payloadEncodings) as PayloadEncoding[];
const hashes = Object.keys(hashFunctions) as HashFunction[];
const schemes = Object.keys(signatureSchemes) as SignatureScheme[];

const read = (scheme: SignatureScheme, encoding: string, hashFunction: string, payload: string) =>
  readPayload(nobleCurves, scheme, { payload, encoding, hashFunction });

test("of all combinations of scheme, encoding and hash function exactly these are allowed", () => {
  const allowed: string[] = [];
  for (const scheme of schemes) {
    for (const encoding of encodings) {
      for (const hashFunction of hashes) {
        try {
          const { bytes } = read(scheme, encoding, hashFunction, payloads[encoding]);
          assert.equal(bytes.length, 32);
          allowed.push(`${scheme} ${encoding.slice(17)} ${hashFunction.slice(14)}`);
        } catch (error) {
          const { code, message } = error as { code: string; message: string };
          assert.equal(code, "invalid_argument");
          assert.match(message, /^invalid (hash function|payload encoding): /);
        }
      }
    }
  }
  const digests = (scheme: string) => [
    ...["HEXADECIMAL", "TEXT_UTF8"].flatMap((encoding) =>
      ["NO_OP", "SHA256", "KECCAK256"].map((hash) => `${scheme} ${encoding} ${hash}`),
    ),
    `${scheme} EIP712 NO_OP`,
    `${scheme} EIP7702_AUTHORIZATION NO_OP`,
  ];
  assert.deepEqual(allowed, [
    ...digests("ecdsa"),
    "ed25519 HEXADECIMAL NOT_APPLICABLE",
    "ed25519 TEXT_UTF8 NOT_APPLICABLE",
    ...digests("bip340"),
    ...digests("bip340_taproot"),
  ]);
});

test("hexadecimal is read with and without 0x, in either case; text as its UTF-8", () => {
  const hex = "c0ffee";
  for (const payload of [hex, `0x${hex}`, "C0FFEE", "0xC0ffEE"]) {
    const { bytes } = read("ed25519", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_NOT_APPLICABLE", payload);
    assert.equal(toHex(bytes), hex);
  }
  for (const payload of ["", "0x"]) {
    const { bytes } = read("ed25519", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_NOT_APPLICABLE", payload);
    assert.equal(bytes.length, 0);
  }
  const { bytes } = read("ed25519", "PAYLOAD_ENCODING_TEXT_UTF8", "HASH_FUNCTION_NOT_APPLICABLE", "0xé\u{1f680}");
  assert.equal(toHex(bytes), "3078c3a9f09f9a80");
});

test("each hash function hashes once", () => {
  const hashed = (hashFunction: string) =>
    toHex(read("ecdsa", "PAYLOAD_ENCODING_TEXT_UTF8", hashFunction, "hello").bytes);
  assert.equal(hashed("HASH_FUNCTION_SHA256"), "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
  assert.equal(hashed("HASH_FUNCTION_KECCAK256"), "1c8aff950685c2ed4bc3174f3472287b56d9517b9c948127319a09a7a36deac8");
  assert.equal(toHex(read("ecdsa", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_NO_OP", digest).bytes), digest);
});

const digestLength =
  /^expected a 32-bytes-long digest: hash the payload first, or choose HASH_FUNCTION_SHA256 or HASH_FUNCTION_KECCAK256$/;

test("a digest of another length, a foreign name and a payload that is not what it says get the published words", () => {
  const refusals: [SignatureScheme, string, string, string, RegExp][] = [
    ["ecdsa", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_NO_OP", "", digestLength],
    ["ecdsa", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_NO_OP", "00".repeat(31), digestLength],
    ["bip340", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_NO_OP", "00".repeat(33), digestLength],
    ["ecdsa", "PAYLOAD_ENCODING_TEXT_UTF8", "HASH_FUNCTION_NO_OP", "hello", digestLength],
    ["ecdsa", "PAYLOAD_ENCODING_BASE64", "HASH_FUNCTION_NO_OP", digest, /^invalid payload encoding$/],
    ["ecdsa", "toString", "HASH_FUNCTION_NO_OP", digest, /^invalid payload encoding$/],
    ["ecdsa", "", "HASH_FUNCTION_NO_OP", digest, /^invalid payload encoding$/],
    ["ecdsa", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_SHA512", digest, /^invalid hash function$/],
    ["ecdsa", "PAYLOAD_ENCODING_HEXADECIMAL", "constructor", digest, /^invalid hash function$/],
    ["ecdsa", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_SHA256", "0x0", /^invalid payload encoding: /],
    ["ecdsa", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_SHA256", "hello!", /^invalid payload encoding: /],
    ["ecdsa", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_SHA256", "0X00", /^invalid payload encoding: /],
    ["ecdsa", "PAYLOAD_ENCODING_TEXT_UTF8", "HASH_FUNCTION_SHA256", "\ud800", /^invalid payload encoding: /],
    ["ecdsa", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_NOT_APPLICABLE", digest, /^invalid hash function: /],
    ["ed25519", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_NO_OP", digest, /^invalid hash function: ed25519 /],
    ["ed25519", "PAYLOAD_ENCODING_EIP712", "HASH_FUNCTION_NOT_APPLICABLE", typedData, /^invalid payload encoding: /],
    ["ecdsa", "PAYLOAD_ENCODING_EIP712", "HASH_FUNCTION_KECCAK256", typedData, /^invalid hash function: /],
    ["ecdsa", "PAYLOAD_ENCODING_EIP712", "HASH_FUNCTION_NO_OP", "{}", /^invalid EIP-712 typed data: /],
    [
      "ecdsa",
      "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION",
      "HASH_FUNCTION_NO_OP",
      "{}",
      /^invalid EIP-7702 authorization: /,
    ],
  ];
  for (const [scheme, encoding, hashFunction, payload, message] of refusals) {
    assert.throws(() => read(scheme, encoding, hashFunction, payload), { code: "invalid_argument", message });
  }
});

test("what policies see comes with the digest that it makes", () => {
  const { typedData: seen } = read("ecdsa", "PAYLOAD_ENCODING_EIP712", "HASH_FUNCTION_NO_OP", typedData);
  assert.equal(seen?.primaryType, "Root");
  assert.equal(seen?.domain.get("chainId"), 1n);
  assert.equal(seen?.message.get("x"), true);
  const other = read("ecdsa", "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION", "HASH_FUNCTION_NO_OP", authorization);
  assert.deepEqual(other.authorization, { address: `0x${"12".repeat(20)}`, chainId: 1n, nonce: 5n });
  assert.equal(toHex(other.bytes), "fe69d951b1b0bf41a31e61fb663a5ffbb68c742fd496a95c3f97096e10f2b5d4");
  const plain = read("ecdsa", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_NO_OP", digest);
  assert.deepEqual(plain, { bytes: fromHex(digest) });
});

test("every message of the Trezor fixtures has its signature, prefixed as EIP-191 says", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type File = {
    setup: { mnemonic: string };
    tests: { parameters: { path: string; msg: string }; result: { sig: string } }[];
  };
  const { setup, tests } = vectors.json<File>("trezor-fixtures/ethereum/signmessage.json");
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(setup.mnemonic));
  for (const { parameters, result } of tests) {
    const message = new TextEncoder().encode(parameters.msg);
    // Clients prefix before they send; then the payload is a digest.
    const payload = toHex(eip191Digest(nobleCurves, message));
    const { bytes } = read("ecdsa", "PAYLOAD_ENCODING_HEXADECIMAL", "HASH_FUNCTION_NO_OP", payload);
    const privateKey = root.derive(parameters.path).privateKey ?? new Uint8Array();
    const { r, s, v } = toWireSignature(signBytes(nobleSigning, "ecdsa", "CURVE_SECP256K1", privateKey, bytes));
    assert.equal(r + s + (v === "00" ? "1b" : "1c"), result.sig);
  }
  assert.equal(tests.length, 6);
});

test("payloads that are too long together are refused before one is read, structured ones much sooner", () => {
  const refused = (length: number, limit: number) => ({
    code: "invalid_argument",
    message: `the payloads are too long together: ${length} characters where ${limit} are taken`,
  });
  const half = "x".repeat(128 * 1024);
  for (const encoding of ["PAYLOAD_ENCODING_EIP712", "PAYLOAD_ENCODING_EIP7702_AUTHORIZATION"] as const) {
    checkTotalLength([half, half], encoding);
    assert.throws(() => checkTotalLength([half, half, "x"], encoding), refused(262_145, 262_144));
  }
  for (const encoding of ["PAYLOAD_ENCODING_HEXADECIMAL", "PAYLOAD_ENCODING_TEXT_UTF8"] as const) {
    checkTotalLength(Array(8).fill(half), encoding);
    assert.throws(() => checkTotalLength([...Array(8).fill(half), "x"], encoding), refused(1_048_577, 1_048_576));
  }
});
