import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromCodePoints, toCodePoints } from "./utf8.ts";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

test("bytes are read exactly when the platform's strict decoder reads them, as the same code points", () => {
  const byte = fc.oneof(
    fc.nat(255),
    fc.constantFrom(
      0x41,
      0x7f,
      0x80,
      0xbf,
      0xc0,
      0xc1,
      0xc2,
      0xdf,
      0xe0,
      0xed,
      0xef,
      0xf0,
      0xf4,
      0xf5,
      0x9f,
      0xa0,
      0x90,
    ),
  );
  let read = 0;
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 6 }), (bytes) => {
      const utf8 = Uint8Array.from(bytes);
      let text: string;
      try {
        text = strict.decode(utf8);
      } catch {
        assert.throws(() => toCodePoints(utf8), { code: "invalid_argument" });
        return;
      }
      read++;
      assert.deepEqual(
        [...toCodePoints(utf8)],
        Array.from(text, (c) => c.codePointAt(0)),
      );
      assert.deepEqual(fromCodePoints(toCodePoints(utf8)), utf8);
    }),
    { seed: 40, numRuns: 20_000 },
  );
  assert.ok(read > 1000, `${read}`);
});

test("every length of sequence survives at both ends of its range", () => {
  for (const point of [0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff]) {
    const utf8 = new TextEncoder().encode(String.fromCodePoint(point));
    assert.deepEqual(fromCodePoints(Uint32Array.of(point)), utf8);
    assert.deepEqual([...toCodePoints(utf8)], [point]);
  }
});

test("overlong forms, surrogates, values beyond Unicode and stray bytes are refused", () => {
  for (const bytes of [
    [0xc0, 0x80],
    [0xc1, 0xbf],
    [0xe0, 0x9f, 0xbf],
    [0xf0, 0x8f, 0xbf, 0xbf],
    [0xed, 0xa0, 0x80],
    [0xed, 0xbf, 0xbf],
    [0xf4, 0x90, 0x80, 0x80],
    [0xf8, 0x88, 0x80, 0x80, 0x80],
    [0x80],
    [0xff],
    [0xc2],
    [0xe3, 0x81],
    [0xc2, 0x41],
  ]) {
    assert.throws(() => toCodePoints(Uint8Array.from(bytes)), { code: "invalid_argument" }, `${bytes}`);
  }
});
