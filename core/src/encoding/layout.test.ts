import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  bool,
  bytes,
  decode,
  encode,
  fixed,
  list,
  oneOf,
  optional,
  struct,
  text,
  u8,
  u32,
  u64,
  variant,
} from "./layout.ts";

const everything = struct({
  small: u8,
  medium: u32,
  large: u64,
  flag: bool,
  four: fixed(4),
  blob: bytes,
  words: text,
  many: list(struct({ name: text, value: u32 })),
  maybe: optional(text),
  colour: oneOf(["red", "green"]),
  shape: variant({ circle: struct({ radius: u32 }), square: struct({ side: u64 }) }),
});

const arbitrary = fc.record(
  {
    small: fc.nat(255),
    medium: fc.nat(2 ** 32 - 1),
    large: fc.maxSafeNat(),
    flag: fc.boolean(),
    four: fc.uint8Array({ minLength: 4, maxLength: 4 }),
    blob: fc.uint8Array({ maxLength: 40 }),
    words: fc.string({ unit: "grapheme", maxLength: 20 }),
    many: fc.array(fc.tuple(fc.string({ unit: "grapheme" }), fc.nat(1000)).map(([name, value]) => ({ name, value }))),
    maybe: fc.option(fc.string(), { nil: undefined }),
    colour: fc.constantFrom("red" as const, "green" as const),
    shape: fc.oneof(
      fc.nat(99).map((radius) => ({ kind: "circle" as const, value: { radius } })),
      fc.nat(99).map((side) => ({ kind: "square" as const, value: { side } })),
    ),
  },
  { noNullPrototype: true },
);

test("every value comes back as it was, and its bytes are the only ones that mean it", () => {
  fc.assert(
    fc.property(arbitrary, (value) => {
      const encoded = encode(everything, value);
      const decoded = decode(everything, encoded);
      assert.deepEqual(decoded, value);
      assert.deepEqual(encode(everything, decoded), encoded);
    }),
  );
});

test("mutated bytes are refused with our own error, or are another value's exact encoding", () => {
  fc.assert(
    fc.property(arbitrary, fc.nat(), fc.nat(255), (value, place, byte) => {
      const encoded = encode(everything, value);
      const mutated = Uint8Array.from(encoded);
      mutated[place % mutated.length] = byte;
      try {
        assert.deepEqual(encode(everything, decode(everything, mutated)), mutated);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        assert.equal((error as { code?: string }).code, "invalid_argument");
      }
    }),
    { numRuns: 2_000 },
  );
});

test("short, long and lying inputs are refused", () => {
  const refused = { code: "invalid_argument" };
  assert.throws(() => decode(u32, new Uint8Array(3)), refused);
  assert.throws(() => decode(u32, new Uint8Array(5)), { ...refused, message: /trailing/ });
  assert.throws(() => decode(bool, Uint8Array.of(2)), refused);
  assert.throws(() => decode(bytes, Uint8Array.of(0, 0, 0, 9, 1)), refused);
  assert.throws(() => decode(list(u8), Uint8Array.of(255, 255, 255, 255, 1)), { ...refused, message: /longer than/ });
  assert.throws(() => decode(u64, new Uint8Array(8).fill(255)), { ...refused, message: /2\^53/ });
  assert.throws(() => decode(text, Uint8Array.of(0, 0, 0, 1, 0xff)), { ...refused, message: /UTF-8/ });
  assert.throws(() => encode(fixed(3), new Uint8Array(2)), { code: "internal" });
});

test("an integer that does not fit its width is refused, never cut to one that does", () => {
  const beyond = [
    [u8, 2 ** 8],
    [u32, 2 ** 32],
    [u64, 2 ** 53],
  ] as const;
  for (const [layout, end] of beyond) {
    assert.equal(decode(layout, encode(layout, end - 1)), end - 1);
    for (const value of [end, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => encode(layout, value), { code: "internal" }, String(value));
    }
  }
});
