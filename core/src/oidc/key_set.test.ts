import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { makeIssuerKey, publishedKeys } from "../../test/oidc/test_issuer.ts";
import { parseKeySet, readPublishedKeys, writeKeySet } from "./key_set.ts";
import { type TokenAlgorithm, tokenAlgorithms } from "./token_algorithms.ts";

const keys = (Object.keys(tokenAlgorithms) as TokenAlgorithm[]).map((name) => makeIssuerKey(name, `key-${name}`));
const [rsa, , , , ec, okp] = keys.map(({ jwk }) => jwk);
const readText = (text: string) => readPublishedKeys(new TextEncoder().encode(text));
const readJwks = (...jwks: unknown[]) => readText(JSON.stringify({ keys: jwks }));
const rsaOf = (modulusLength: number, publicExponent = 65_537) => ({
  ...generateKeyPairSync("rsa", { modulusLength, publicExponent }).publicKey.export({ format: "jwk" }),
  alg: "RS256",
});

/** A number of 2,048 bits that is a power of 65537 modulo each of the first primes, as all moduli of that library are; `by` is added. */
function rocaModulus(by: number): string {
  const primes = [2n, 3n, 5n, 7n, 11n, 13n, 17n, 19n, 23n, 29n, 31n, 37n, 41n, 43n, 47n, 53n, 59n, 61n, 67n, 71n];
  primes.push(73n, 79n, 83n, 89n, 97n, 101n, 103n, 107n, 109n, 113n, 127n, 131n, 137n, 139n, 149n, 151n, 157n);
  const product = primes.reduce((whole, prime) => whole * prime, 1n);
  const power = 65_537n ** 12_345n % product;
  const modulus = power + product * ((1n << 2_047n) / product + 1n) + BigInt(by);
  return Buffer.from(modulus.toString(16).padStart(512, "0"), "hex").toString("base64url");
}

test("the keys of every algorithm are kept, in their order, with the members that matter", () => {
  const read = readText(publishedKeys(keys));
  assert.deepEqual(
    read.map(({ kid, algorithm }) => [kid, algorithm]),
    keys.map(({ kid, algorithm }) => [kid, algorithm]),
  );
  const text = writeKeySet(read);
  assert.deepEqual(parseKeySet(text), read);
  assert.deepEqual(Object.keys(JSON.parse(text).keys[0]), ["kty", "kid", "alg", "n", "e"]);
  assert.ok(!text.includes('"use"'));
});

test("a key without `alg` has the usual one of its type", () => {
  for (const [jwk, algorithm] of [
    [rsa, "RS256"],
    [ec, "ES256"],
    [okp, "EdDSA"],
  ] as const) {
    assert.equal(readJwks({ ...jwk, alg: undefined })[0]?.algorithm, algorithm);
  }
});

test("keys that are for something else, of another kind, weak or private are left out", () => {
  const bad: [why: string, jwk: unknown][] = [
    ["for encryption", { ...rsa, use: "enc" }],
    ["use of another type", { ...rsa, use: ["sig"] }],
    ["for other operations", { ...rsa, key_ops: ["encrypt"] }],
    ["operations as a text", { ...rsa, key_ops: "verify" }],
    ["an unknown algorithm", { ...rsa, alg: "RS1" }],
    ["a shared secret's algorithm", { ...rsa, alg: "HS256" }],
    ["an algorithm of another type", { ...rsa, alg: "ES256" }],
    ["an algorithm with a name that objects have", { ...rsa, alg: "constructor" }],
    ["a type with a name that objects have", { ...rsa, kty: "constructor" }],
    ["another type", { kty: "oct", k: "AAAA", alg: "HS256" }],
    ["another curve", { ...ec, crv: "P-384" }],
    ["a short coordinate", { ...ec, x: String(ec?.x).slice(0, 40) }],
    ["padding", { ...ec, x: `${ec?.x}=` }],
    ["another Edwards curve", { ...okp, crv: "Ed448" }],
    ["a private key", { ...okp, d: "AAAA" }],
    ["a private RSA key", { ...rsa, d: "AAAA" }],
    ["a name that is no text", { ...rsa, kid: 1 }],
    ["an empty name", { ...rsa, kid: "" }],
    ["a long name", { ...rsa, kid: "k".repeat(257) }],
    ["1,024 bits", rsaOf(1024)],
    ["8,192 bits", { ...rsa, n: Buffer.alloc(1_024, 0xff).toString("base64url") }],
    ["an exponent as long as the modulus", { ...rsa, e: rsa?.n }],
    ["an even modulus", { ...rsa, n: Buffer.alloc(256, 0xfe).toString("base64url") }],
    ["a modulus whose factors can be computed (CVE-2017-15361)", { ...rsa, n: rocaModulus(0) }],
    ["another exponent", rsaOf(2048, 3)],
    [
      "a leading zero",
      { ...rsa, n: Buffer.concat([Buffer.alloc(1), Buffer.from(String(rsa?.n), "base64url")]).toString("base64url") },
    ],
    ["no modulus", { ...rsa, n: undefined }],
    ["null", null],
    ["a list", [rsa]],
  ];
  for (const [why, jwk] of bad) assert.deepEqual(readJwks(jwk), [], why);
  assert.equal(readJwks(...bad.map(([, jwk]) => jwk), { ...rsa, key_ops: ["verify", "sign"] }).length, 1);
});

test("a number beside one of that library's is taken", () => {
  assert.equal(readJwks({ ...rsa, n: rocaModulus(2) }).length, 1);
});

test("what is no key set is refused", () => {
  const many = Array.from({ length: 65 }, (_, index) => ({ ...okp, kid: `k${index}` }));
  for (const text of [
    "",
    "[]",
    "{}",
    '{"keys":{}}',
    '{"keys":[],"keys":[]}',
    "not json",
    JSON.stringify({ keys: many }),
  ]) {
    assert.throws(() => readText(text), { code: "invalid_argument" }, text.slice(0, 40));
  }
  assert.equal(readText('{"keys":[]}').length, 0);
});

test("the signer reads only what the courier writes", () => {
  const text = writeKeySet(readText(publishedKeys(keys)));
  for (const other of [
    ...[publishedKeys(keys), ` ${text}`, text.replace('"kty"', '"kty" '), text.replace('"alg":"RS256",', "")],
    ...[
      text.replace("{", '{"more":1,'),
      text.replace('"alg":"RS256"', '"alg":"HS256"'),
      "",
      "null",
      '{"keys":null}',
      text.slice(1),
    ],
  ]) {
    assert.throws(() => parseKeySet(other), { code: "invalid_argument" }, other.slice(0, 60));
  }
});

test("a set that is longer than a statement may be is refused", () => {
  const [key] = readJwks(rsa);
  assert.ok(key);
  assert.throws(() => writeKeySet(Array.from({ length: 90 }, () => key)), { code: "invalid_argument" });
});
