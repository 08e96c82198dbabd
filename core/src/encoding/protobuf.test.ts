import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromHex, toHex } from "./hex.ts";
import { bool, bytes, inner, int32, int64, message, repeated, singular, text, toVarint, word } from "./protobuf.ts";

const part = message({ name: singular(1, text), weight: singular(2, int64) });
const whole = message({
  raw: singular(1, bytes),
  count: singular(3, int64),
  small: singular(4, int32),
  flag: singular(5, bool),
  colour: singular(6, word(["red", "green"])),
  one: inner(15, part),
  many: repeated(16, part),
});

const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record<T>(fields, { noNullPrototype: true });
const count = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), fc.bigInt({ min: 0n, max: 300n }));
const parts = record({ name: fc.string({ unit: "binary", maxLength: 5 }), weight: count });
const values = record({
  raw: fc.uint8Array({ maxLength: 5 }),
  count,
  small: fc.nat(),
  flag: fc.boolean(),
  colour: fc.constantFrom("red" as const, "green" as const),
  one: fc.option(parts, { nil: undefined }),
  many: fc.array(parts, { maxLength: 3 }),
});

test("values survive", () => {
  fc.assert(
    fc.property(values, (value) => assert.deepEqual(whole.read(whole.write(value)), value)),
    { seed: 3, numRuns: 1_000 },
  );
});

test("defaults take no bytes, and an empty message inside takes two", () => {
  const empty = whole.read(new Uint8Array());
  assert.deepEqual(empty, {
    raw: new Uint8Array(),
    count: 0n,
    small: 0,
    flag: false,
    colour: "red",
    one: undefined,
    many: [],
  });
  assert.equal(whole.write(empty).length, 0);
  assert.equal(toHex(whole.write({ ...empty, one: { name: "", weight: 0n } })), "7a00");
  assert.equal(toHex(whole.write({ ...empty, many: [{ name: "a", weight: 300n }] })), "820106" + "0a0161" + "10ac02");
});

test("varints", () => {
  for (const [value, hex] of [
    [0n, "00"],
    [127n, "7f"],
    [128n, "8001"],
    [300n, "ac02"],
    [2n ** 28n, "8080808001"],
    [2n ** 64n - 1n, "ffffffffffffffffff01"],
  ] as const) {
    assert.equal(toHex(toVarint(value)), hex);
  }
});

test("every spelling but one is refused", () => {
  for (const [why, hex] of [
    [/too short/, "18"],
    [/too short/, "1880"],
    [/too short/, "0a02ff"],
    [/over four bytes/, "0affffffffffffffffff01"],
    [/too short/, "0affffff7f"],
    [/not the shortest form/, "188100"],
    [/not the shortest form/, "1881808080808000"],
    [/not the shortest form/, "980001"],
    [/over 64 bits/, "18ffffffffffffffffff02"],
    [/over ten bytes/, "18ffffffffffffffffffff01"],
    [/no such field number/, "0000"],
    [/over four bytes/, "808080801000"],
    [/unknown field 2/, "1001"],
    [/out of order/, "20010a01ff"],
    [/out of order/, "2001" + "1801"],
    [/field 3 twice/, "18011802"],
    [/field 15 twice/, "7a007a00"],
    [/spelled out at its default/, "1800"],
    [/spelled out at its default/, "0a00"],
    [/spelled out at its default/, "3000"],
    [/of another type/, "0801"],
    [/of another type/, "1d01020304"],
    [/of another type/, "7801"],
    [/of another type/, "1a0101"],
    [/a negative number/, "18ffffffffffffffffff01"],
    [/beyond 31 bits/, "208080808008"],
    [/neither 0 nor 1/, "2802"],
    [/an unknown word/, "3002"],
    [/not UTF-8/, "7a030a01ff"],
  ] as const) {
    assert.throws(() => whole.read(fromHex(hex)), { code: "invalid_argument", message: why }, hex);
  }
});

test("many parts are read and written; too many are refused", () => {
  const many = (length: number) => ({
    ...whole.read(new Uint8Array()),
    many: Array(length).fill({ name: "", weight: 0n }),
  });
  assert.equal(whole.read(whole.write(many(10_000))).many.length, 10_000);
  assert.throws(() => whole.read(whole.write(many(10_001))), /over 10000 fields in one message/);
  assert.equal(whole.write(many(150_000)).length, 450_000);
});
