import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { findVectors } from "../../../core/test/vectors.ts";
import { createMac, hmacSha256 } from "./digest.ts";

type Group = { keySize: number; tagSize: number; tests: { key: string; msg: string; tag: string; result: string }[] };

test("HMAC-SHA-256 agrees with Wycheproof, in both forms we use", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  let ran = 0;
  let tooLong = 0;
  for (const { tagSize, tests } of vectors.json<{ testGroups: Group[] }>("wycheproof/hmac_sha256_test.json")
    .testGroups) {
    for (const { key, msg, tag, result } of tests) {
      // A key beyond one block is hashed first; ours are 32 bytes, and createMac refuses longer ones.
      if (key.length > 128) {
        assert.throws(() => createMac(fromHex(key)));
        tooLong += 1;
        continue;
      }
      const macs = [createMac(fromHex(key))(fromHex(msg)), hmacSha256(fromHex(key), fromHex(msg))];
      for (const mac of macs) assert.equal(toHex(mac.subarray(0, tagSize / 8)) === tag, result === "valid");
      ran += 1;
    }
  }
  t.diagnostic(`${ran} ran, ${tooLong} keys beyond one block`);
  assert.equal(ran + tooLong, 116);
});

test("a long message and a short one have the MAC that Node computes", () => {
  const key = new Uint8Array(32).fill(7);
  const mac = createMac(key);
  for (const length of [0, 1, 63, 64, 65, 4_095, 4_096, 4_097, 100_000]) {
    const content = new Uint8Array(length).fill(length & 255);
    assert.deepEqual(new Uint8Array(mac(content)), new Uint8Array(hmacSha256(key, content)), `${length} bytes`);
  }
});
