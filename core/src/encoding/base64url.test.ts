import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromBase64url, toBase64url } from "./base64url.ts";

test("bytes survive in all four spellings that clients send", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const plain = Buffer.from(bytes).toString("base64");
      const url = plain.replaceAll("+", "-").replaceAll("/", "_");
      assert.equal(toBase64url(bytes), url.replaceAll("=", ""));
      for (const text of [plain, url, plain.replaceAll("=", ""), url.replaceAll("=", "")]) {
        assert.deepEqual(fromBase64url(text), bytes);
      }
    }),
    { seed: 2, numRuns: 500 },
  );
});

test("a runtime that does not write base64 by itself gets the same texts", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const without = Object.assign(bytes.slice(), { toBase64: undefined }) as unknown as Uint8Array;
      assert.equal(toBase64url(without), Buffer.from(bytes).toString("base64url"));
    }),
  );
});

test("the examples of RFC 4648 section 10", () => {
  for (const [text, encoded] of [
    ["", ""],
    ["f", "Zg"],
    ["fo", "Zm8"],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg"],
    ["fooba", "Zm9vYmE"],
    ["foobar", "Zm9vYmFy"],
  ] as const) {
    assert.equal(toBase64url(new TextEncoder().encode(text)), encoded);
    assert.equal(new TextDecoder().decode(fromBase64url(encoded)), text);
  }
});

test("impossible lengths, wrong padding, leftover bits, mixed alphabets and other characters are refused", () => {
  for (const text of [
    "A", // six bits are not a byte
    "AAAAA",
    "=",
    "==",
    "====",
    "A===",
    "AA=", // padding that does not fill its group
    "AAA==",
    "AAAA=",
    "AAAA==",
    "AAAA====",
    "AA=A",
    "Zh", // f, with a leftover bit set
    "Zm9", // fo, likewise
    "+_+_", // two alphabets
    "AA A",
    "AAA\n",
    " AAA",
    "AAA.",
    "AAAé",
    "AA\u0100A",
    "AAA\u0141",
  ]) {
    assert.throws(() => fromBase64url(text), { code: "invalid_argument" }, JSON.stringify(text));
  }
});

test("whatever is read has one of the four spellings of what was read", () => {
  const character = fc.constantFrom(..."ABYZabz019-_+/= \n.é");
  fc.assert(
    fc.property(fc.string({ unit: character, maxLength: 9 }), (text) => {
      let bytes: Uint8Array;
      try {
        bytes = fromBase64url(text);
      } catch (error) {
        assert.equal((error as { code?: string }).code, "invalid_argument");
        return;
      }
      const plain = Buffer.from(bytes).toString("base64");
      const url = plain.replaceAll("+", "-").replaceAll("/", "_");
      assert.ok([plain, url, plain.replaceAll("=", ""), url.replaceAll("=", "")].includes(text), text);
    }),
    { seed: 3, numRuns: 3000 },
  );
});
