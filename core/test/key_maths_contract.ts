/** What every implementation of `KeyMaths` promises: the published vectors of hashing, mnemonics and derivation. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { fromBase58check } from "../src/encoding/base58.ts";
import { fromHex, toHex } from "../src/encoding/hex.ts";
import { deriveKeyPair, deriveNode } from "../src/keys/derive.ts";
import { type Curve, keyCurves } from "../src/keys/key_curves.ts";
import type { KeyMaths } from "../src/keys/key_maths.ts";
import { parseSentence, toSeed, toSentence } from "../src/keys/mnemonic.ts";
import { parsePath } from "../src/keys/path.ts";
import { findVectors } from "./vectors.ts";

const utf8 = new TextEncoder();

/** An extended private key of BIP-32: version, depth, parent and index in 13 bytes, chain code, a zero, the key. */
function readExtendedPrivateKey(text: string): { chainCode: string; privateKey: string } {
  const bytes = fromBase58check(text);
  assert.equal(bytes.length, 78);
  return { chainCode: toHex(bytes.subarray(13, 45)), privateKey: toHex(bytes.subarray(46)) };
}

/** Registers the tests for one implementation. */
export function testKeyMathsContract(name: string, maths: KeyMaths): void {
  test(`${name}: HMAC-SHA512 and PBKDF2 agree with Wycheproof`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    type Hmac = {
      testGroups: { tagSize: number; tests: { key: string; msg: string; tag: string; result: string }[] }[];
    };
    let macs = 0;
    for (const { tagSize, tests } of vectors.json<Hmac>("wycheproof/hmac_sha512_test.json").testGroups) {
      for (const { key, msg, tag, result } of tests) {
        const mac = toHex(maths.hmacSha512(fromHex(key), fromHex(msg))).slice(0, tagSize / 4);
        assert.equal(mac === tag, result === "valid");
        macs++;
      }
    }
    assert.equal(macs, 116);

    type Pbkdf2 = {
      testGroups: {
        tests: { password: string; salt: string; iterationCount: number; dkLen: number; dk: string; result: string }[];
      }[];
    };
    const cases = vectors.json<Pbkdf2>("wycheproof/pbkdf2_hmacsha512_test.json").testGroups.flatMap((g) => g.tests);
    for (const { password, salt, iterationCount, dkLen, dk, result } of cases) {
      const key = toHex(maths.pbkdf2Sha512(fromHex(password), fromHex(salt), iterationCount, dkLen));
      assert.equal(key === dk, result === "valid");
    }
    assert.equal(cases.length, 39);
  });

  test(`${name}: the vectors of BIP-39, from entropy to words, seed and master key`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    type File = { english: [entropy: string, sentence: string, seed: string, masterKey: string][] };
    const { english } = vectors.json<File>("bip39/vectors.english.json");
    const language = "MNEMONIC_LANGUAGE_ENGLISH" as const;
    for (const [entropy, sentence, seed, masterKey] of english) {
      const mnemonic = { entropy: fromHex(entropy), language };
      assert.equal(new TextDecoder().decode(toSentence(maths, mnemonic)), sentence);
      assert.deepEqual(parseSentence(maths, utf8.encode(sentence)), mnemonic);
      const ours = toSeed(maths, mnemonic, utf8.encode("TREZOR"));
      assert.equal(toHex(ours), seed);
      const node = deriveNode(maths, "CURVE_SECP256K1", ours, []);
      const { chainCode, privateKey } = readExtendedPrivateKey(masterKey);
      assert.equal(toHex(node), privateKey + chainCode);
    }
    assert.equal(english.length, 16);
  });

  test(`${name}: the vectors of BIP-32`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    type File = {
      valid: { seed: string; chains: { path: string; xpub: string; xprv: string }[] }[];
      invalid: unknown[];
    };
    const { valid, invalid } = vectors.json<File>("bip32/bip32.json");
    let count = 0;
    for (const { seed, chains } of valid) {
      for (const { path, xpub, xprv } of chains) {
        const { chainCode, privateKey } = readExtendedPrivateKey(xprv);
        const node = deriveNode(maths, "CURVE_SECP256K1", fromHex(seed), parsePath(path));
        assert.equal(toHex(node), privateKey + chainCode, path);
        const pair = deriveKeyPair(maths, "CURVE_SECP256K1", fromHex(seed), parsePath(path));
        assert.equal(toHex(pair.privateKey), privateKey, path);
        assert.deepEqual(pair.publicKey.compressed, Uint8Array.from(fromBase58check(xpub).subarray(45)), path);
        count++;
      }
    }
    assert.equal(count, 14);
    // Left out: malformed extended keys (`xprv…`). No endpoint reads or writes that form.
    assert.equal(invalid.length, 11);
  });

  test(`${name}: the vectors of SLIP-10 on all three curves, the retry on P-256 among them`, (t) => {
    const vectors = findVectors(t);
    if (vectors === undefined) return;
    const curves: Record<string, Curve> = {
      secp256k1: "CURVE_SECP256K1",
      nist256p1: "CURVE_P256",
      ed25519: "CURVE_ED25519",
    };
    type Chain = { path: string; chainCode: string; private: string; public: string };
    let count = 0;
    for (const { curve: theirs, seed, chains } of vectors.json<{ curve: string; seed: string; chains: Chain[] }[]>(
      "slip10/slip10.json",
    )) {
      const curve = curves[theirs];
      assert.ok(curve !== undefined);
      for (const chain of chains) {
        const path = parsePath(chain.path);
        assert.equal(toHex(deriveNode(maths, curve, fromHex(seed), path)), chain.private + chain.chainCode, chain.path);
        const { publicKey } = deriveKeyPair(maths, curve, fromHex(seed), path);
        // SLIP-10 writes a zero in front of Ed25519 keys, to give all curves 33 bytes.
        const prefix: string = curve === "CURVE_ED25519" ? "00" : "";
        assert.equal(prefix + toHex(publicKey.compressed), chain.public, chain.path);
        count++;
      }
    }
    assert.equal(count, 21);
  });

  test(`${name}: a seed whose first master key on P-256 is out of range is hashed again`, () => {
    const seed = fromHex("a7305bc8df8d0951f0cb224c0e95d7707cbdf2c6ce7e8d481fec69c7ff5e9446");
    const { privateKey } = deriveKeyPair(maths, "CURVE_P256", seed, []);
    assert.equal(toHex(privateKey), "3b8c18469a4634517d6d0b65448f8e6c62091b45540a1743c5846be55d47d88f");
  });

  test(`${name}: sums and negatives at the ends of the range`, () => {
    const one = fromHex("01".padStart(64, "0"));
    const less = (scalar: Uint8Array, by: number) => scalar.map((byte, i) => (i === 31 ? byte - by : byte));
    for (const [points, curve, { Point }] of [
      ["secp256k1", "CURVE_SECP256K1", secp256k1],
      ["p256", "CURVE_P256", p256],
    ] as const) {
      const { publicKey, addScalars } = maths[points];
      const { order } = keyCurves[curve];
      const last = less(order, 1);
      assert.equal(addScalars(last, one), undefined, "n - 1 + 1 is zero");
      assert.equal(addScalars(one, last), undefined);
      assert.deepEqual(addScalars(one, new Uint8Array(32)), one, "zero adds nothing");
      assert.deepEqual(addScalars(last, last), less(order, 2));
      assert.equal(toHex(publicKey(one)), toHex(Point.BASE.toBytes(false)));
      assert.equal(toHex(publicKey(last)), toHex(Point.BASE.negate().toBytes(false)));
    }
    const { negateScalar } = maths.secp256k1;
    assert.deepEqual(negateScalar(one), less(keyCurves.CURVE_SECP256K1.order, 1));
    assert.deepEqual(negateScalar(negateScalar(one)), one);
  });

  test(`${name}: inputs are left alone, and outputs are plain arrays of the caller's own`, () => {
    const key = fromHex("487f361ddfd73440e707f4daa6775b376859e8a3c9f29b3bb694a12927c0213c");
    const results: [string, (input: Uint8Array) => Uint8Array | undefined][] = [
      ["sha256", (input) => maths.sha256(input)],
      ["hmacSha512", (input) => maths.hmacSha512(input, input)],
      ["pbkdf2Sha512", (input) => maths.pbkdf2Sha512(input, input, 1, 64)],
      ["ed25519.publicKey", (input) => maths.ed25519.publicKey(input)],
      ["secp256k1.negateScalar", (input) => maths.secp256k1.negateScalar(input)],
      ...(["secp256k1", "p256"] as const).flatMap(
        (points): [string, (input: Uint8Array) => Uint8Array | undefined][] => [
          [`${points}.publicKey`, (input) => maths[points].publicKey(input)],
          [`${points}.addScalars`, (input) => maths[points].addScalars(input, input)],
        ],
      ),
    ];
    for (const [what, compute] of results) {
      const input = Uint8Array.from(key);
      const first = compute(input);
      assert.deepEqual(input, key, what);
      assert.equal(Object.getPrototypeOf(first), Uint8Array.prototype, what);
      const kept = toHex(first ?? new Uint8Array());
      first?.fill(0);
      assert.equal(toHex(compute(input) ?? new Uint8Array()), kept, `${what} hands out something it keeps`);
    }
  });
}
