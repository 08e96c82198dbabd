import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromBase64, toBase64 } from "./base64.ts";

test("bytes are written as Node writes them, and read back", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      assert.equal(toBase64(bytes), Buffer.from(bytes).toString("base64"));
      assert.deepEqual(fromBase64(toBase64(bytes)), bytes);
      // A runtime that does not write it by itself.
      const without = Object.assign(bytes.slice(), { toBase64: undefined }) as unknown as Uint8Array;
      assert.equal(toBase64(without), toBase64(bytes));
    }),
  );
});

test("every value has one spelling: the URL alphabet, other padding and leftover bits are refused", () => {
  for (const text of [
    "-_8=",
    "+/8",
    "+/9=",
    "QQ",
    "QQ=",
    "QR==",
    "Q===",
    "=",
    "====",
    "QUJD=",
    "QUJD\n",
    " QUJD",
    "QU D",
  ]) {
    assert.throws(() => fromBase64(text), { code: "invalid_argument", message: /^malformed base64/ }, text);
  }
});
