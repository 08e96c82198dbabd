import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCurves } from "../../curves/node_curves.ts";
import { createEphemeralPair } from "./ephemeral_pair.ts";

test("a pair signs with its last 65 bytes, the same bytes always alike, and no two starts have one key", () => {
  const [pair, other] = [createEphemeralPair(), createEphemeralPair()];
  assert.equal(pair.publicKey.length, 130);
  assert.deepEqual([pair.publicKey[0], pair.publicKey[65]], [4, 4]);
  assert.notDeepEqual(pair.publicKey.subarray(0, 65), pair.publicKey.subarray(65));
  assert.notDeepEqual(pair.publicKey, other.publicKey);
  const message = Buffer.from("a payload");
  const signature = pair.sign(message);
  assert.equal(signature.length, 64);
  assert.deepEqual(pair.sign(message), signature);
  const keyOf = (publicKey: Uint8Array) => nodeCurves.compressPoint("p256", publicKey);
  assert.ok(nodeCurves.verifyP256(keyOf(pair.publicKey.subarray(65)), message, signature));
  assert.ok(!nodeCurves.verifyP256(keyOf(pair.publicKey.subarray(0, 65)), message, signature));
  assert.ok(!nodeCurves.verifyP256(keyOf(other.publicKey.subarray(65)), message, signature));
});
