import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type CborNode, countValues, writeCbor } from "../../test/webauthn/cbor_writer.ts";
import { Fault } from "../fault.ts";
import { type CborValue, fromCbor, isCborMap, readCborAt } from "./cbor.ts";
import { fromHex } from "./hex.ts";

const { node } = fc.letrec<{ node: CborNode }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", maxDepth: 7, withCrossShrink: true },
    fc.oneof(
      fc.maxSafeInteger(),
      fc.integer({ min: -300, max: 300 }),
      fc.constantFrom(2n ** 53n, 2n ** 64n - 1n, -(2n ** 53n), -(2n ** 64n)),
      fc.string({ unit: "grapheme", maxLength: 30 }),
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(true, false, null),
    ),
    fc.array(tie("node"), { maxLength: 5 }),
    fc
      .uniqueArray(fc.tuple(fc.oneof(fc.integer(), fc.string({ maxLength: 8 })), tie("node")), {
        maxLength: 5,
        selector: ([key]) => key,
      })
      .map((pairs) => ({ pairs })),
  ),
}));

/** What was written, as the reader should give it. */
function expected(written: CborNode): CborValue {
  if (typeof written !== "object" || written === null || written instanceof Uint8Array) return written;
  if ("raw" in written) throw new Error("nothing is known about raw bytes");
  if (!("pairs" in written)) return written.map(expected);
  return new Map(written.pairs.map(([key, value]) => [key as number | string, expected(value)]));
}

function refusal(why: RegExp | string) {
  return (error: unknown) =>
    error instanceof Fault &&
    error.code === "invalid_argument" &&
    (typeof why === "string" ? error.message === `malformed CBOR: ${why}` : why.test(error.message));
}

test("what is written is read, and where it ends", () => {
  fc.assert(
    fc.property(node, fc.uint8Array({ maxLength: 3 }), (written, rest) => {
      const bytes = writeCbor(written);
      assert.deepEqual(fromCbor(bytes), expected(written));
      const { value, end } = readCborAt(Uint8Array.of(7, ...bytes, ...rest), 1);
      assert.deepEqual([value, end], [expected(written), bytes.length + 1]);
    }),
    { seed: 31, numRuns: 1000 },
  );
});

test("every value has one spelling: longer lengths, open lengths and tags are refused", () => {
  const counts = { long: 0, open: 0, tagged: 0 };
  fc.assert(
    fc.property(node, fc.nat(), fc.constantFrom("long", "open", "tagged"), (written, place, how) => {
      const plain = writeCbor(written);
      const bent = writeCbor(written, { at: place % countValues(written), how });
      if (Buffer.compare(plain, bent) === 0) return; // Integers have no open form, and the longest have no longer one.
      counts[how]++;
      assert.throws(() => fromCbor(bent), refusal(/longer than it needs|left open|a tag/));
    }),
    { seed: 32, numRuns: 2000 },
  );
  assert.ok(
    Object.values(counts).every((count) => count > 200),
    JSON.stringify(counts),
  );
});

test("every cut and every trailing byte is refused", () => {
  fc.assert(
    fc.property(node, fc.nat(), (written, place) => {
      const bytes = writeCbor(written);
      assert.throws(() => fromCbor(bytes.subarray(0, place % bytes.length)), refusal("too short"));
      assert.throws(() => fromCbor(Uint8Array.of(...bytes, place & 0xff)), refusal("trailing bytes"));
    }),
    { seed: 33, numRuns: 500 },
  );
});

test("each refusal says why", () => {
  for (const [hex, why] of [
    ["", "too short"],
    ["a201020103", "a key twice"],
    ["a2616101616102", "a key twice"],
    ["a2410101410202", "a key that is neither an integer nor text"],
    ["a1f500", "a key that is neither an integer nor text"],
    ["a18000", "a key that is neither an integer nor text"],
    ["f97e00", "a float"],
    ["fa00000000", "a float"],
    ["fb0000000000000000", "a float"],
    ["f7", "a simple value other than false, true and null"],
    ["f0", "a simple value other than false, true and null"],
    ["f8ff", "a simple value other than false, true and null"],
    ["ff", "a simple value other than false, true and null"],
    ["c000", "a tag"],
    ["1c", "a reserved length"],
    ["5d", "a reserved length"],
    ["9f00ff", "a length that is left open"],
    ["1f", "a length that is left open"],
    ["1817", "longer than it needs to be"],
    ["1900ff", "longer than it needs to be"],
    ["1a0000ffff", "longer than it needs to be"],
    ["1b00000000ffffffff", "longer than it needs to be"],
    ["3817", "longer than it needs to be"],
    ["580100", "longer than it needs to be"],
    ["62c328", "text that is not UTF-8"],
    ["63eda080", "text that is not UTF-8"],
    ["5bffffffffffffffff", "too short"],
    ["9bffffffffffffffff", "too short"],
    ["bb001fffffffffffff", "too short"],
    ["9affffffff00", "too short"],
    ["a10102ff", "trailing bytes"],
  ] as const) {
    assert.throws(() => fromCbor(fromHex(hex)), refusal(why), hex);
  }
});

test("text keeps a byte order mark, which decoders like to drop", () => {
  assert.equal(fromCbor(fromHex("63efbbbf")), "\ufeff");
});

test("eight levels are read and nine are refused, in arrays and in maps", () => {
  const nested = (levels: number, open: string) => fromHex(`${open.repeat(levels)}00`);
  for (const open of ["81", "a100"]) {
    fromCbor(nested(8, open));
    assert.throws(() => fromCbor(nested(9, open)), refusal("nested deeper than 8"));
    assert.throws(() => fromCbor(nested(20_000, open)), refusal("nested deeper than 8"));
  }
});

test("input over the limit is refused unread", () => {
  assert.throws(() => fromCbor(new Uint8Array(64 * 1024 + 1)), refusal("over 65536 bytes"));
  assert.throws(() => fromCbor(Uint8Array.of(1, 2, 3), 2), refusal("over 2 bytes"));
});

test("mutated bytes are read as what they say or refused with our own code", () => {
  const counts = { read: 0, refused: 0 };
  fc.assert(
    fc.property(node, fc.nat(), fc.nat(255), (written, place, byte) => {
      const bytes = writeCbor(written);
      bytes[place % bytes.length] = byte;
      try {
        const value = fromCbor(bytes);
        counts.read++;
        assert.deepEqual(writeCbor(toNode(value)), bytes, "the only spelling");
      } catch (error) {
        assert.ok(error instanceof Fault && error.code === "invalid_argument", `${error}`);
        counts.refused++;
      }
    }),
    { seed: 34, numRuns: 3000 },
  );
  assert.ok(counts.read > 300 && counts.refused > 300, JSON.stringify(counts));
});

function toNode(value: CborValue): CborNode {
  if (isCborMap(value)) return { pairs: [...value].map(([key, item]) => [key, toNode(item)] as const) };
  return Array.isArray(value) ? value.map(toNode) : (value as CborNode);
}
