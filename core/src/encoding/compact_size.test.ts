import assert from "node:assert/strict";
import { test } from "node:test";
import { compactSize, countedBytes, countedList } from "./compact_size.ts";
import { compactU16 } from "./compact_u16.ts";
import { fromHex, toHex } from "./hex.ts";
import { decode, encode, u8 } from "./layout.ts";

test("compact sizes on both sides of every length at which they grow", () => {
  for (const [value, hex] of [
    [0, "00"],
    [252, "fc"],
    [253, "fdfd00"],
    [65_535, "fdffff"],
    [65_536, "fe00000100"],
    [0x02000000, "fe00000002"],
  ] as const) {
    assert.equal(toHex(encode(compactSize, value)), hex);
    assert.equal(decode(compactSize, fromHex(hex)), value);
  }
});

test("compact sizes that are longer than need be, too large or cut off are refused", () => {
  for (const hex of [
    "fdfc00",
    "fd0000",
    "feffff0000",
    "fe01000002",
    "ff0000000001000000",
    "ffffffffffffffffff",
    "fd00",
    "fe",
    "",
  ]) {
    assert.throws(() => decode(compactSize, fromHex(hex)), { code: "invalid_argument" }, hex);
  }
  assert.throws(() => encode(compactSize, 0x02000001), { code: "internal" });
});

test("every compact-u16 has one spelling", () => {
  for (const [value, hex] of [
    [0, "00"],
    [127, "7f"],
    [128, "8001"],
    [16_383, "ff7f"],
    [16_384, "808001"],
    [65_535, "ffff03"],
  ] as const) {
    assert.equal(toHex(encode(compactU16, value)), hex);
    assert.equal(decode(compactU16, fromHex(hex)), value);
  }
  for (let value = 0; value <= 65_535; value += 251) {
    assert.equal(decode(compactU16, encode(compactU16, value)), value);
  }
  for (const hex of ["8000", "808000", "ffff04", "ffff83", "80808001", "80", ""]) {
    assert.throws(() => decode(compactU16, fromHex(hex)), { code: "invalid_argument" }, hex);
  }
  assert.throws(() => encode(compactU16, 65_536), { code: "internal" });
});

test("a count beyond what is left is refused before anything is allocated", () => {
  for (const layout of [countedBytes(compactSize), countedList(compactSize, u8)]) {
    assert.throws(() => decode<unknown>(layout, fromHex("feffffff01")), /too short/);
    assert.throws(() => decode<unknown>(layout, fromHex("03aabb")), /too short/);
    assert.throws(() => decode<unknown>(layout, fromHex("01aabb")), /trailing bytes/);
  }
  assert.deepEqual(decode(countedBytes(compactSize), fromHex("02aabb")), fromHex("aabb"));
  assert.deepEqual(decode(countedList(compactU16, u8), fromHex("02aabb")), [0xaa, 0xbb]);
});
