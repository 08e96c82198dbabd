import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../fault.ts";
import { type CborKey, type CborValue, fromCbor } from "./cbor.ts";
import { toCbor } from "./cbor_writer.ts";
import { toHex } from "./hex.ts";

const { value } = fc.letrec<{ value: CborValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 6, withCrossShrink: true },
    fc.oneof(
      fc.maxSafeInteger(),
      fc.constantFrom(
        0,
        23,
        24,
        255,
        256,
        65535,
        65536,
        -1,
        -24,
        -25,
        2 ** 32,
        2n ** 53n,
        2n ** 64n - 1n,
        -(2n ** 64n),
      ),
      fc.string({ unit: "grapheme", maxLength: 30 }),
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(true, false, null),
    ),
    fc.array(tie("value"), { maxLength: 5 }),
    fc
      .uniqueArray(fc.tuple(fc.oneof(fc.integer(), fc.string({ maxLength: 8 })), tie("value")), {
        maxLength: 5,
        selector: ([key]) => key,
      })
      .map((entries) => new Map<CborKey, CborValue>(entries)),
  ),
}));

test("what is written is read as it was, and has one spelling whatever the order of its maps", () => {
  fc.assert(
    fc.property(value, (written) => {
      const bytes = toCbor(written);
      assert.deepEqual(toCbor(fromCbor(bytes)), bytes);
      assert.deepEqual(toCbor(turned(written)), bytes);
    }),
    { seed: 41, numRuns: 1000 },
  );
});

function turned(from: CborValue): CborValue {
  if (from instanceof Map) return new Map([...from].reverse().map(([key, item]) => [key, turned(item)]));
  return Array.isArray(from) ? from.map(turned) : from;
}

test("keys stand in the order of their bytes: short ones first, integers before text", () => {
  const map = new Map<CborKey, CborValue>([
    ["aa", 1],
    ["b", 2],
    [-1, 3],
    [100, 4],
    [10, 5],
  ]);
  assert.equal(toHex(toCbor(map)), "a50a05186404200361620262616101");
});

test("numbers that CBOR has no exact form for are refused", () => {
  for (const number of [1.5, Number.NaN, 2 ** 53, 2n ** 64n, -(2n ** 64n) - 1n]) {
    assert.throws(
      () => toCbor(number),
      (error) => error instanceof Fault && error.code === "internal" && error.message.startsWith("CBOR cannot hold"),
    );
  }
});
