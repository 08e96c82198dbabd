import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { samples } from "../../test/samples.ts";
import { toNfkd } from "./nfkd.ts";

const encoder = new TextEncoder();

function isSurrogate(point: number): boolean {
  return point >= 0xd800 && point < 0xe000;
}

test("every code point decomposes as the platform decomposes strings", () => {
  const step = samples.codePointStep;
  let count = 0;
  for (let point = 0; point <= 0x10ffff; point += step) {
    if (isSurrogate(point)) continue;
    const text = String.fromCodePoint(point);
    assert.deepEqual(toNfkd(encoder.encode(text)), encoder.encode(text.normalize("NFKD")), point.toString(16));
    count++;
  }
  const visitedBelow = (point: number) => Math.ceil(point / step);
  assert.equal(count, visitedBelow(0x110000) - (visitedBelow(0xe000) - visitedBelow(0xd800)));
});

test("texts with runs of marks are ordered as the platform orders them", () => {
  const numRuns = samples.markedTexts;
  const point = fc.oneof(
    fc.integer({ min: 0x20, max: 0x17f }),
    fc.integer({ min: 0x300, max: 0x36f }), // combining marks of many classes
    fc.constantFrom(0x334, 0x345, 0x3099, 0xff9e, 0xfb1e, 0x0f73, 0x0344, 0x1d165, 0x1d16d, 0x05b0, 0x064b, 0x0e38),
    fc.integer({ min: 0xac00, max: 0xd7a3 }), // Hangul syllables
    fc.integer({ min: 0x3040, max: 0x30ff }),
    fc.constantFrom(0xfdfa, 0x3000, 0xa0, 0x1e9b, 0x2126, 0xfb01, 0x1f600, 0x2f800),
    fc.integer({ min: 0, max: 0x10ffff }).filter((value) => !isSurrogate(value)),
  );
  fc.assert(
    fc.property(fc.array(point, { maxLength: 12 }), (points) => {
      const text = String.fromCodePoint(...points);
      assert.deepEqual(toNfkd(encoder.encode(text)), encoder.encode(text.normalize("NFKD")));
    }),
    { seed: 41, numRuns },
  );
});

test("text that is not UTF-8 is refused", () => {
  assert.throws(() => toNfkd(Uint8Array.of(0x41, 0xff)), { code: "invalid_argument" });
});

test("plain ASCII makes no string at all, and the result is the caller's own", (t) => {
  const made = t.mock.method(String, "fromCodePoint");
  const text = encoder.encode("legal winner");
  const plain = toNfkd(text);
  assert.equal(made.mock.callCount(), 0);
  assert.deepEqual(plain, text);
  plain.fill(0);
  assert.deepEqual(text, encoder.encode("legal winner"));
});
