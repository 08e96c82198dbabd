import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findVectors } from "../../test/vectors.ts";
import { fromBase58, fromBase58check, toBase58, toBase58check } from "./base58.ts";
import { fromHex, toHex } from "./hex.ts";

test("the vectors of Bitcoin Core, both ways", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const cases = vectors.json<[hex: string, text: string][]>("bitcoin-core/base58_encode_decode.json");
  for (const [hex, text] of cases) {
    assert.equal(toBase58(fromHex(hex)), text);
    assert.equal(toHex(fromBase58(text)), hex.toLowerCase());
  }
  assert.equal(cases.length, 14);
});

test("checked texts survive in both alphabets, and no changed character passes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(), (bytes, at) => {
      for (const alphabet of ["bitcoin", "ripple"] as const) {
        const text = toBase58check(bytes, alphabet);
        assert.deepEqual(Uint8Array.from(fromBase58check(text, alphabet)), bytes);
        const place = at % text.length;
        const other = text[place] === "z" ? "y" : "z";
        const bent = text.slice(0, place) + other + text.slice(place + 1);
        assert.throws(() => fromBase58check(bent, alphabet), { code: "invalid_argument" });
      }
    }),
    { seed: 42, numRuns: 300 },
  );
});

test("characters outside the alphabet, texts too short for a checksum and endless ones are refused", () => {
  for (const text of ["0", "O", "I", "l", " 1", "1 ", "é", "\n", "1".repeat(1025)]) {
    assert.throws(() => fromBase58(text), { code: "invalid_argument" }, text);
  }
  for (const text of ["", "1", "111", "2g"]) assert.throws(() => fromBase58check(text), { code: "invalid_argument" });
});
