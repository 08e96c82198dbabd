import assert from "node:assert/strict";
import { test } from "node:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { toHex } from "../encoding/hex.ts";
import { normalisePublicKey } from "./api_key.ts";
import { nobleCurves } from "./noble_curves.ts";

const secret = new Uint8Array(32).fill(9);
const points = { API_KEY_CURVE_P256: p256, API_KEY_CURVE_SECP256K1: secp256k1 } as const;

test("every accepted spelling of a key becomes the same stored one", () => {
  for (const [curve, library] of Object.entries(points) as [keyof typeof points, typeof p256][]) {
    const stored = toHex(library.getPublicKey(secret, true));
    const long = toHex(library.getPublicKey(secret, false));
    for (const hex of [stored, stored.toUpperCase(), long, long.toUpperCase()]) {
      assert.equal(normalisePublicKey(nobleCurves, curve, hex), stored);
    }
  }
  const stored = toHex(ed25519.getPublicKey(secret));
  assert.equal(normalisePublicKey(nobleCurves, "API_KEY_CURVE_ED25519", stored.toUpperCase()), stored);
});

test("a refusal says what is wrong with the key", () => {
  const long = toHex(p256.getPublicKey(secret, false));
  const noPoint = `02${"00".repeat(31)}`;
  for (const [curve, hex, why] of [
    ["API_KEY_CURVE_P256", "0x02", "not hex"],
    ["API_KEY_CURVE_P256", "02f", "not hex"],
    ["API_KEY_CURVE_P256", "", "not a point encoding"],
    ["API_KEY_CURVE_P256", "00", "not a point encoding"],
    ["API_KEY_CURVE_P256", toHex(ed25519.getPublicKey(secret)), "not a point encoding"],
    ["API_KEY_CURVE_P256", `06${long.slice(2)}`, "not a point encoding"],
    ["API_KEY_CURVE_P256", `${noPoint}01`, "not a point of its curve"],
    ["API_KEY_CURVE_SECP256K1", `${noPoint}05`, "not a point of its curve"],
    ["API_KEY_CURVE_SECP256K1", long, "not a point of its curve"],
    ["API_KEY_CURVE_ED25519", toHex(p256.getPublicKey(secret, true)), "an ED25519 key has 32 bytes"],
    ["API_KEY_CURVE_ED25519", "00".repeat(32), "a small-order or non-canonical ED25519 key"],
    ["API_KEY_CURVE_ED25519", `ed${"ff".repeat(30)}7f`, "a small-order or non-canonical ED25519 key"],
    ["API_KEY_CURVE_ED25519", `02${"00".repeat(31)}`, "not a point of its curve"],
  ] as const) {
    const expected = { code: "invalid_argument", message: `malformed public key: ${why}` };
    assert.throws(() => normalisePublicKey(nobleCurves, curve, hex), expected, hex);
  }
});
