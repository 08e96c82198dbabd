import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findVectors } from "../../test/vectors.ts";
import { fromBech32, fromSegwitAddress, toBech32, toSegwitAddress } from "./bech32.ts";
import { toHex } from "./hex.ts";

type File = {
  validStrings: string[];
  invalidStrings: { string: string; reason: string }[];
  validAddresses: { address: string; scriptPubKey: string }[];
  invalidAddresses: { string: string; reason: string }[];
};

/** BIP-350 replaced the checksum of every version above 0, so BIP-173's examples of those are refused since. */
const superseded = [
  "bc1pw508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7k7grplx",
  "BC1SW50QA3JX3S",
  "bc1zw508d6qejxtdg4y5r3zarvaryvg6kdaj",
];

/** Valid bech32 whose five-bit groups are no whole bytes: nothing that we read or write. */
const notBytes = ["an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs"];

function readsAsSegwit(address: string): boolean {
  const prefix = address.toLowerCase().split("1", 1)[0] ?? "";
  if (prefix !== "bc" && prefix !== "tb") return false;
  try {
    fromSegwitAddress(prefix, address);
    return true;
  } catch (error) {
    assert.equal((error as { code?: string }).code, "invalid_argument");
    return false;
  }
}

test("the vectors of BIP-173", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const { validStrings, invalidStrings, validAddresses, invalidAddresses } =
    vectors.json<File>("bitcoin-bips/bip173.json");
  let strings = 0;
  for (const text of validStrings) {
    const prefix = text.slice(0, text.lastIndexOf("1")).toLowerCase();
    if (notBytes.includes(text)) continue;
    const bytes = fromBech32("bech32", prefix, text);
    assert.equal(toBech32("bech32", prefix, bytes), text.toLowerCase());
    strings++;
  }
  assert.deepEqual([strings, validStrings.length], [7 - notBytes.length, 7]);

  for (const { string, reason } of invalidStrings) {
    const prefix = string.slice(0, Math.max(string.lastIndexOf("1"), 0)).toLowerCase();
    const isOnlyTooLong = reason === "overall max length exceeded";
    // Spark's addresses may pass 90 characters, so only SegWit addresses keep that bound.
    if (isOnlyTooLong) continue;
    assert.throws(() => fromBech32("bech32", prefix, string), { code: "invalid_argument" }, reason);
  }
  assert.equal(invalidStrings.length, 12);

  for (const { address, scriptPubKey } of validAddresses) {
    assert.equal(readsAsSegwit(address), !superseded.includes(address), address);
    if (superseded.includes(address)) continue;
    const prefix = address.slice(0, 2).toLowerCase();
    const { version, program } = fromSegwitAddress(prefix, address);
    assert.equal(`00${toHex(Uint8Array.of(program.length, ...program))}`, scriptPubKey);
    assert.equal(toSegwitAddress(prefix, version, program), address.toLowerCase());
  }
  assert.equal(validAddresses.length, 6);
  for (const { string, reason } of invalidAddresses) assert.equal(readsAsSegwit(string), false, reason);
  assert.equal(invalidAddresses.length, 10);
});

test("bytes survive in both variants, and a text of one is refused as the other", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.constantFrom("cosmos", "spark", "a"), (bytes, prefix) => {
      for (const [variant, other] of [
        ["bech32", "bech32m"],
        ["bech32m", "bech32"],
      ] as const) {
        const text = toBech32(variant, prefix, bytes);
        assert.deepEqual(Uint8Array.from(fromBech32(variant, prefix, text)), bytes);
        assert.deepEqual(Uint8Array.from(fromBech32(variant, prefix, text.toUpperCase())), bytes);
        assert.throws(() => fromBech32(other, prefix, text), { code: "invalid_argument" });
        assert.throws(() => fromBech32(variant, `${prefix}x`, text), { code: "invalid_argument" });
      }
    }),
    { seed: 43, numRuns: 200 },
  );
});

test("witness programs survive in every version; lengths that BIP-141 forbids are refused both ways", () => {
  for (let version = 0; version <= 16; version++) {
    for (const length of [2, 20, 32, 40]) {
      const program = new Uint8Array(length).fill(version + 1);
      if (version === 0 && length !== 20 && length !== 32) {
        assert.throws(() => toSegwitAddress("bc", version, program), { code: "internal" });
        continue;
      }
      const address = toSegwitAddress("bc", version, program);
      assert.deepEqual(fromSegwitAddress("bc", address), { version, program });
      assert.throws(() => fromSegwitAddress("tb", address), { code: "invalid_argument" });
    }
  }
  for (const [version, length] of [
    [1, 1],
    [1, 41],
    [17, 20],
    [-1, 20],
  ] as const) {
    assert.throws(() => toSegwitAddress("bc", version, new Uint8Array(length)), { code: "internal" });
  }
});
