import assert from "node:assert/strict";
import { test } from "node:test";
import { nobleCurves } from "@keystead/core/crypto/noble_curves.ts";
import { p256 } from "@noble/curves/nist.js";
import { createNodeCurves, nodeCurves } from "./node_curves.ts";

const message = new TextEncoder().encode("message");
const signers = Array.from({ length: 5 }, (_, i) => {
  const secret = new Uint8Array(32).fill(i + 1);
  return { publicKey: p256.getPublicKey(secret, true), signature: p256.sign(message, secret) };
});

test("verdicts do not depend on which keys are still kept", () => {
  const curves = createNodeCurves(2);
  for (let round = 0; round < 3; round++) {
    for (const [i, { publicKey, signature }] of signers.entries()) {
      const other = signers[(i + 1) % signers.length]?.signature ?? new Uint8Array();
      assert.ok(curves.verifyP256(publicKey, message, signature));
      assert.ok(curves.verifyP256(publicKey, message, signature), "and again, from the kept key");
      assert.ok(!curves.verifyP256(publicKey, message, other));
    }
  }
});

test("a key kept under its bytes is not changed by the caller reusing its buffer", () => {
  const curves = createNodeCurves();
  const [a, b] = signers;
  assert.ok(a !== undefined && b !== undefined);
  const buffer = Uint8Array.from(a.publicKey);
  assert.ok(curves.verifyP256(buffer, message, a.signature));
  buffer.set(b.publicKey);
  assert.ok(!curves.verifyP256(buffer, message, a.signature));
  assert.ok(curves.verifyP256(buffer, message, b.signature));
  assert.ok(curves.verifyP256(a.publicKey, message, a.signature));
});

test("Keccak is the same as the library's, at every length around its blocks of 136 bytes and of a megabyte", () => {
  const bytes = Uint8Array.from({ length: 1_048_577 }, (_, at) => at % 251);
  for (const length of [...Array(300).keys(), 1_048_576, 1_048_577]) {
    const part = bytes.subarray(0, length);
    assert.deepEqual(nodeCurves.keccak256(part), nobleCurves.keccak256(part), String(length));
  }
});
