import assert from "node:assert/strict";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { toHex } from "../encoding/hex.ts";
import {
  checkPrivateKey,
  curveNames,
  generatePrivateKey,
  getKeyCurve,
  isPrivateKey,
  keyCurves,
  publicKeyOf,
} from "./key_curves.ts";
import { nobleKeyMaths } from "./noble_key_maths.ts";

const zero = new Uint8Array(32);
const one = zero.map((_, i) => (i === 31 ? 1 : 0));

function add(scalar: Uint8Array, amount: number): Uint8Array {
  return scalar.map((byte, i) => (i === 31 ? byte + amount : byte));
}

test("the orders are the libraries'", () => {
  for (const [row, curve] of [
    [keyCurves.CURVE_SECP256K1, secp256k1],
    [keyCurves.CURVE_P256, p256],
  ] as const) {
    assert.equal(toHex(row.order), curve.Point.Fn.ORDER.toString(16).padStart(64, "0"));
  }
});

test("private keys lie in [1, n - 1], and on Ed25519 are any 32 bytes", () => {
  for (const curve of ["CURVE_SECP256K1", "CURVE_P256"] as const) {
    const { order } = keyCurves[curve];
    const changed = (by: number, rest: number) => order.map((byte, i) => (i < 16 ? byte : i === 16 ? byte + by : rest));
    for (const bytes of [one, add(order, -1), changed(-1, 0xff)]) {
      assert.equal(isPrivateKey(curve, bytes), true, toHex(bytes));
      checkPrivateKey(curve, bytes);
    }
    for (const bytes of [zero, order, add(order, 1), changed(1, 0), zero.map(() => 0xff)]) {
      assert.equal(isPrivateKey(curve, bytes), false, toHex(bytes));
      const refusal = { code: "invalid_argument", message: "invalid private key: not in the curve's range" };
      assert.throws(() => checkPrivateKey(curve, bytes), refusal);
    }
  }
  for (const bytes of [zero, one, zero.map(() => 0xff)]) assert.ok(isPrivateKey("CURVE_ED25519", bytes));
  for (const curve of curveNames) {
    for (const length of [0, 1, 31, 33, 64]) {
      const bytes = new Uint8Array(length).fill(1);
      assert.equal(isPrivateKey(curve, bytes), false);
      assert.throws(() => checkPrivateKey(curve, bytes), { message: "invalid private key: expected 32 bytes" });
    }
  }
});

test("randomness that is no key is wiped and drawn again", () => {
  const { order } = keyCurves.CURVE_P256;
  const drawn = [zero, order, zero.map(() => 0xff), one].map((bytes) => Uint8Array.from(bytes));
  const left = [...drawn];
  const key = generatePrivateKey("CURVE_P256", () => left.shift() ?? assert.fail("drew too often"));
  assert.deepEqual(key, one);
  assert.deepEqual(drawn.slice(0, 3), [zero, zero, zero]);
});

test("both forms of a public key are one point; Ed25519 has one form", () => {
  for (const [curve, noble] of [
    ["CURVE_SECP256K1", secp256k1],
    ["CURVE_P256", p256],
  ] as const) {
    for (let i = 1; i < 20; i++) {
      const key = zero.map(() => i);
      const { compressed, uncompressed } = publicKeyOf(nobleKeyMaths, curve, key);
      assert.deepEqual(compressed, Uint8Array.from(noble.getPublicKey(key, true)));
      assert.deepEqual(Uint8Array.from(uncompressed), Uint8Array.from(noble.getPublicKey(key, false)));
    }
  }
  const { compressed, uncompressed } = publicKeyOf(nobleKeyMaths, "CURVE_ED25519", one);
  assert.equal(compressed.length, 32);
  assert.equal(compressed, uncompressed);
});

test("a curve that is not in the table is an `invalid curve`", () => {
  assert.equal(getKeyCurve("CURVE_P256"), keyCurves.CURVE_P256);
  for (const name of ["", "CURVE_P384", "curve_p256", "toString", "__proto__", "constructor"]) {
    assert.throws(
      () => getKeyCurve(name),
      { code: "invalid_argument", message: "invalid curve: use one of CURVE_SECP256K1, CURVE_P256, CURVE_ED25519" },
      name,
    );
  }
});
