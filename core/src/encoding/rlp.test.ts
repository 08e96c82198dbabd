import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RLP } from "micro-eth-signer/core/rlp.js";
import { fromHex, toHex } from "./hex.ts";
import { fromRlp, fromRlpInteger, type RlpItem, toRlp, toRlpInteger } from "./rlp.ts";

const { item } = fc.letrec<{ item: RlpItem }>((tie) => ({
  item: fc.oneof(
    { maxDepth: 5 },
    fc.uint8Array({ maxLength: 70 }),
    fc.uint8Array({ minLength: 1, maxLength: 1 }),
    fc.array(tie("item"), { maxLength: 6 }),
  ),
}));

test("items survive, and are written as another implementation writes them", () => {
  fc.assert(
    fc.property(item, (value) => {
      const bytes = toRlp(value);
      assert.deepEqual(fromRlp(bytes), value);
      assert.deepEqual(bytes, RLP.encode(value as Parameters<typeof RLP.encode>[0]));
    }),
    { seed: 1, numRuns: 2_000 },
  );
});

test("headers are right on both sides of every length at which they grow", () => {
  for (const length of [0, 1, 2, 55, 56, 57, 255, 256, 257, 65_535, 65_536, 65_537]) {
    const value = new Uint8Array(length).fill(0xee);
    assert.deepEqual(fromRlp(toRlp(value)), value);
    assert.deepEqual(fromRlp(toRlp([value, value])), [value, value]);
  }
});

test("every spelling but the shortest is refused", () => {
  for (const [why, hex] of [
    ["nothing", ""],
    ["trailing byte", "8000"],
    ["trailing byte behind a list", "c000"],
    ["a small byte with a header", "8105"],
    ["a long header for a short string", `b801${"ff"}`],
    ["a long header for 55 bytes", `b837${"ee".repeat(55)}`],
    ["a length with a leading zero", `b90038${"ee".repeat(56)}`],
    ["a list's length with a leading zero", `f90038${"c0".repeat(56)}`],
    ["a long header for a short list", "f801c0"],
    ["a string that is cut off", "83eeee"],
    ["a list that is cut off", "c283"],
    ["a list that ends inside an item", "c283eeeeee"],
    ["a length that is cut off", "b9"],
    ["a length beyond four bytes", `bf${"ff".repeat(8)}`],
    ["a length that wraps in 32 bits", "bb01000000ee"],
  ] as const) {
    assert.throws(() => fromRlp(fromHex(hex)), { code: "invalid_argument", message: /^malformed RLP: / }, why);
  }
});

test("depth, count and length are bounded", () => {
  const nested = (depth: number): RlpItem => (depth === 0 ? new Uint8Array() : [nested(depth - 1)]);
  assert.deepEqual(fromRlp(toRlp(nested(16))), nested(16));
  assert.throws(() => fromRlp(toRlp(nested(17))), /nested over 16 deep/);
  assert.throws(() => fromRlp(toRlp(nested(200))), /nested over 16 deep/);
  const empty = new Uint8Array();
  assert.equal((fromRlp(toRlp(Array(65_535).fill(empty))) as RlpItem[]).length, 65_535);
  assert.throws(() => fromRlp(toRlp(Array(65_536).fill(empty))), /over 65536 items/);
  assert.throws(() => fromRlp(new Uint8Array(1024 * 1024 + 1)), /over 1048576 bytes/);
});

test("integers have no leading zeros and fit their field", () => {
  for (const [value, hex] of [
    [0n, ""],
    [1n, "01"],
    [127n, "7f"],
    [256n, "0100"],
    [2n ** 32n, "0100000000"],
    [2n ** 48n - 1n, "ff".repeat(6)],
    [2n ** 48n, "01000000000000"],
    [2n ** 53n + 1n, "20000000000001"],
    [2n ** 256n - 1n, "ff".repeat(32)],
  ] as const) {
    assert.equal(toHex(toRlpInteger(value)), hex);
    assert.equal(fromRlpInteger(fromHex(hex), 32), value);
  }
  for (const bad of [fromHex("00"), fromHex("0001"), new Uint8Array(33).fill(1), [], [fromHex("01")]]) {
    assert.throws(() => fromRlpInteger(bad, 32), { code: "invalid_argument" });
  }
  assert.throws(() => fromRlpInteger(fromHex("010000000000000000"), 8), /over 8 bytes/);
});
