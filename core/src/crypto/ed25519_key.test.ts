import assert from "node:assert/strict";
import { test } from "node:test";
import { ED25519_TORSION_SUBGROUP, ed25519 } from "@noble/curves/ed25519.js";
import fc from "fast-check";
import { fromHex } from "../encoding/hex.ts";
import { isStrongEd25519Point } from "./ed25519_key.ts";

test("honest keys are strong", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
      assert.ok(isStrongEd25519Point(ed25519.getPublicKey(seed)));
    }),
    { seed: 31, numRuns: 50 },
  );
});

test("the points of small order are weak, with either sign of x", () => {
  for (const hex of ED25519_TORSION_SUBGROUP) {
    const bytes = fromHex(hex);
    assert.ok(ed25519.Point.fromBytes(bytes, true).isSmallOrder());
    assert.ok(!isStrongEd25519Point(bytes), hex);
    bytes[31] = (bytes[31] ?? 0) ^ 0x80;
    assert.ok(!isStrongEd25519Point(bytes), hex);
  }
});

test("the 19 values of y from p up are weak, and the value below p - 1 is not", () => {
  const y = (low: number, high: number) => Uint8Array.of(low, ...new Uint8Array(30).fill(0xff), high);
  for (let low = 0xed; low <= 0xff; low++) {
    assert.ok(!isStrongEd25519Point(y(low, 0x7f)));
    assert.ok(!isStrongEd25519Point(y(low, 0xff)));
  }
  assert.ok(isStrongEd25519Point(y(0xeb, 0x7f)));
  assert.ok(isStrongEd25519Point(y(0xeb, 0xff)));
  assert.ok(isStrongEd25519Point(y(0xff, 0x7e)));
});

test("another length is weak", () => {
  for (const length of [0, 31, 33, 64]) assert.ok(!isStrongEd25519Point(new Uint8Array(length).fill(2)));
});
