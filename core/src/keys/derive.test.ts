import assert from "node:assert/strict";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { HDKey as Bip32Key } from "@scure/bip32";
import fc from "fast-check";
import { HDKey as Slip10Key } from "micro-key-producer/slip10.js";
import { samples } from "../../test/samples.ts";
import { toHex } from "../encoding/hex.ts";
import { deriveKeyPair, deriveNode } from "./derive.ts";
import type { KeyMaths } from "./key_maths.ts";
import { nobleKeyMaths } from "./noble_key_maths.ts";
import { formatPath, hardened, parsePath } from "./path.ts";

const numRuns = samples.derivations;
const seed = fc.uint8Array({ minLength: 16, maxLength: 64 });
const index = fc.oneof(fc.nat(0xffffffff), fc.constantFrom(0, 1, hardened - 1, hardened, 0xffffffff));
const path = fc.array(index, { maxLength: 6 });

test("secp256k1 keys are those of another BIP-32 library", () => {
  fc.assert(
    fc.property(seed, path, (seed, path) => {
      const theirs = Bip32Key.fromMasterSeed(seed).derive(formatPath(path));
      const { privateKey, publicKey } = deriveKeyPair(nobleKeyMaths, "CURVE_SECP256K1", seed, path);
      assert.equal(toHex(privateKey), toHex(theirs.privateKey ?? assert.fail("no key")));
      assert.equal(toHex(publicKey.compressed), toHex(theirs.publicKey ?? assert.fail("no key")));
    }),
    { seed: 46, numRuns },
  );
});

test("Ed25519 keys are those of another SLIP-10 library that counts every component as hardened", () => {
  fc.assert(
    fc.property(seed, path, (seed, path) => {
      const theirs = Slip10Key.fromMasterSeed(seed).derive(formatPath(path), true);
      const { privateKey, publicKey } = deriveKeyPair(nobleKeyMaths, "CURVE_ED25519", seed, path);
      assert.equal(toHex(privateKey), toHex(theirs.privateKey));
      assert.equal(toHex(publicKey.compressed), toHex(theirs.publicKeyRaw));
    }),
    { seed: 47, numRuns },
  );
});

test("a P-256 child's public key follows from its parent's public key alone, as SLIP-10 says of plain indexes", () => {
  fc.assert(
    fc.property(seed, path, fc.nat(hardened - 1), (seed, path, index) => {
      const parent = deriveKeyPair(nobleKeyMaths, "CURVE_P256", seed, path).publicKey.compressed;
      const chainCode = deriveNode(nobleKeyMaths, "CURVE_P256", seed, path).subarray(32);
      const data = Buffer.concat([parent, Buffer.alloc(4)]);
      data.writeUInt32BE(index, 33);
      const offset = p256.Point.Fn.fromBytes(hmac(sha512, chainCode, data).subarray(0, 32));
      const child = p256.Point.fromBytes(parent).add(p256.Point.BASE.multiply(offset));
      const { publicKey } = deriveKeyPair(nobleKeyMaths, "CURVE_P256", seed, [...path, index]);
      assert.equal(toHex(publicKey.compressed), child.toHex(true));
    }),
    { seed: 48, numRuns },
  );
});

/** A hash that says what is given first, and then the real thing, to reach what one seed in 2^127 would reach. */
function saying(...given: Uint8Array[]): KeyMaths {
  const left = given.map((bytes) => Uint8Array.from(bytes));
  return { ...nobleKeyMaths, hmacSha512: (key, message) => left.shift() ?? nobleKeyMaths.hmacSha512(key, message) };
}

const beyond = new Uint8Array(64).fill(0xff);
const seedOfOnes = new Uint8Array(64).fill(1);

test("where BIP-32 defines no key the path is refused, never moved to another one", () => {
  const refusal = {
    code: "invalid_argument",
    message: "invalid path: BIP-32 defines no key there; choose another index",
  };
  for (const nothing of [beyond, new Uint8Array(64)]) {
    assert.throws(() => deriveKeyPair(saying(nothing), "CURVE_SECP256K1", seedOfOnes, []), refusal);
  }
  const master = deriveNode(nobleKeyMaths, "CURVE_SECP256K1", seedOfOnes, []);
  assert.throws(() => deriveKeyPair(saying(master, beyond), "CURVE_SECP256K1", seedOfOnes, [0]), refusal);
});

test("where SLIP-10 finds no key on P-256 it goes on, with the other half of the hash", () => {
  const master = deriveNode(nobleKeyMaths, "CURVE_P256", seedOfOnes, []);
  const data = Uint8Array.of(1, ...beyond.subarray(32), 0, 0, 0, 0);
  const second = nobleKeyMaths.hmacSha512(master.subarray(32), data);
  const { addScalars } = nobleKeyMaths.p256;
  const { privateKey } = deriveKeyPair(saying(master, beyond), "CURVE_P256", seedOfOnes, [0]);
  assert.deepEqual(privateKey, addScalars(master.subarray(0, 32), second.subarray(0, 32)));
});

test("every array that held a key on the way is wiped, and the seed is left alone", () => {
  for (const curve of ["CURVE_SECP256K1", "CURVE_P256", "CURVE_ED25519"] as const) {
    const seen: Uint8Array[] = [];
    const watch = (bytes: Uint8Array): Uint8Array => {
      seen.push(bytes);
      return bytes;
    };
    const watching: KeyMaths = {
      ...nobleKeyMaths,
      hmacSha512: (key, message) => watch(nobleKeyMaths.hmacSha512(key, watch(message))),
    };
    for (const points of ["secp256k1", "p256"] as const) {
      const { addScalars } = nobleKeyMaths[points];
      watching[points] = {
        ...nobleKeyMaths[points],
        addScalars: (a, b) => watch(addScalars(a, b) ?? assert.fail("zero")),
      } as KeyMaths["secp256k1"];
    }
    const seed = Uint8Array.from(seedOfOnes);
    const { privateKey } = deriveKeyPair(watching, curve, seed, parsePath("m/44'/60'/0'/0/0"));
    assert.ok(privateKey.some((byte) => byte !== 0));
    assert.deepEqual(seed, seedOfOnes);
    const kept = seen.filter((bytes) => bytes !== seed && bytes.some((byte) => byte !== 0));
    assert.deepEqual(kept, []);
    assert.ok(seen.length >= 12, `${seen.length}`);
  }
});
