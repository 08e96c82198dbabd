import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { createMac } from "../../../server/src/state/digest.ts";
import { samples } from "../../test/samples.ts";
import { type CodeForm, codeAlphabets, deriveCode, isCode, type KeyedHash } from "./one_time_code.ts";

const secret = new Uint8Array(32).fill(3);
const keyedHash = createMac(secret);
const longest: CodeForm = { length: 9, alphabet: "alphanumeric" };
const ascii = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
const otpIdOf = (number: number) => {
  const otpId = new Uint8Array(16);
  new DataView(otpId.buffer).setUint32(12, number);
  return otpId;
};

test("a code derives from secret, id, length and alphabet, by the steps of the specification", () => {
  const otpId = Uint8Array.from(Buffer.from("00112233445566778899aabbccddeeff", "hex"));
  const content = Buffer.concat([otpId, Buffer.from([9, 0, 0, 0, 12]), Buffer.from("alphanumeric"), Buffer.alloc(4)]);
  const block = createHmac("sha256", secret).update(content).digest();
  const expected = [...block.subarray(0, 9)].map((byte) => codeAlphabets.alphanumeric[byte % 32]).join("");
  assert.equal(ascii(deriveCode(keyedHash, otpId, longest)), expected);
});

test("every code has the length and the alphabet that were asked for, and comes again", () => {
  for (const alphabet of ["alphanumeric", "numeric"] as const) {
    for (let length = 6; length <= 9; length++) {
      const codes = Array.from({ length: 50 }, (_, i) =>
        ascii(deriveCode(keyedHash, otpIdOf(i), { length, alphabet })),
      );
      for (const code of codes) {
        assert.equal(code.length, length);
        assert.ok([...code].every((symbol) => codeAlphabets[alphabet].includes(symbol)));
      }
      assert.ok(new Set(codes).size > 48);
      assert.equal(ascii(deriveCode(keyedHash, otpIdOf(7), { length, alphabet })), codes[7]);
    }
  }
  for (const length of [0, 5, 10, 6.5, Number.NaN]) {
    assert.throws(() => deriveCode(keyedHash, otpIdOf(1), { ...longest, length }), { code: "internal" });
  }
});

test("a code of another length, alphabet, id or secret is another code, not a part of this one", () => {
  const code = ascii(deriveCode(keyedHash, otpIdOf(1), { length: 9, alphabet: "numeric" }));
  for (const length of [6, 7, 8]) {
    assert.ok(!code.startsWith(ascii(deriveCode(keyedHash, otpIdOf(1), { length, alphabet: "numeric" }))));
  }
  assert.notEqual(ascii(deriveCode(keyedHash, otpIdOf(2), { length: 9, alphabet: "numeric" })), code);
  assert.notEqual(
    ascii(deriveCode(createMac(new Uint8Array(32)), otpIdOf(1), { length: 9, alphabet: "numeric" })),
    code,
  );
});

test("hash bytes that would favour some digits are passed over, into the next block where it takes that", () => {
  const blocks: number[] = [];
  const hash: KeyedHash = (content) => {
    blocks.push(content.at(-1) ?? -1);
    return new Uint8Array(32).fill(blocks.length === 1 ? 255 : 249);
  };
  assert.equal(ascii(deriveCode(hash, otpIdOf(1), { length: 6, alphabet: "numeric" })), "999999");
  assert.deepEqual(blocks, [0, 1]);
});

test("what a code was derived from is wiped", () => {
  const hashes: Uint8Array[] = [];
  const hash: KeyedHash = (content) => {
    const bytes = keyedHash(content);
    hashes.push(bytes);
    return bytes;
  };
  deriveCode(hash, otpIdOf(1), longest);
  assert.ok(hashes.length > 0 && hashes.every((bytes) => bytes.every((byte) => byte === 0)));
});

test("a typed code counts in either case, with the letters that look like digits, and with separators", () => {
  const code = Buffer.from("0A1B9ZK8X");
  for (const typed of [
    "0A1B9ZK8X",
    "0a1b9zk8x",
    "OaIb9Zk8x",
    "oalb9zk8x",
    "0A1-B9Z-K8X",
    " 0A1 B9Z K8X ",
    "Oa1b9ZK8x",
  ]) {
    assert.equal(isCode(code, typed), true, typed);
  }
  const wrong = ["", "0A1B9ZK8", "0A1B9ZK8XX", "0A1B9ZK8Y", "0A1B9ZK8x\n", "0A1B9ZK8\u0058\u0301", "UA1B9ZK8X"];
  for (const typed of [...wrong, "0A1B9ZK8X".padEnd(65, " "), "\u{1d7ce}A1B9ZK8X", "0A1B9ZK8X\0"]) {
    assert.equal(isCode(code, typed), false, typed);
  }
});

test("every other symbol in every place is a wrong code", () => {
  const code = deriveCode(keyedHash, otpIdOf(1), longest);
  assert.equal(isCode(code, ascii(code)), true);
  for (let place = 0; place < code.length; place++) {
    for (const symbol of codeAlphabets.alphanumeric) {
      const typed = `${ascii(code).slice(0, place)}${symbol}${ascii(code).slice(place + 1)}`;
      assert.equal(isCode(code, typed), typed === ascii(code));
    }
  }
});

/**
 * Bounds of χ² that a fair source exceeds once in a million tests, by degrees of freedom: one less than there are symbols. All numbers
 * here come from a fixed secret, so that the outcome is the same each time.
 */
const bounds = { alphanumeric: 86.1, numeric: 45.1 };

for (const [alphabet, length] of [
  ["alphanumeric", 9],
  ["numeric", 6],
] as const) {
  test(`${alphabet} codes have each symbol in each place as often as any other`, (t) => {
    const count = samples.otpCodes;
    const symbols = codeAlphabets[alphabet];
    const seen = Array.from({ length }, () => new Uint32Array(128));
    for (let number = 0; number < count; number++) {
      const code = deriveCode(keyedHash, otpIdOf(number), { length, alphabet });
      for (let place = 0; place < length; place++) {
        const ofPlace = seen[place] as Uint32Array;
        const symbol = code[place] as number;
        ofPlace[symbol] = (ofPlace[symbol] ?? 0) + 1;
      }
    }
    const expected = count / symbols.length;
    const statistics = seen.map((ofPlace) =>
      [...symbols].reduce((sum, symbol) => sum + ((ofPlace[symbol.charCodeAt(0)] ?? 0) - expected) ** 2 / expected, 0),
    );
    const largest = Math.max(...statistics);
    t.diagnostic(
      `${count} ${alphabet} codes of ${length}: the largest χ² of a place is ${largest.toFixed(1)}, the bound ${bounds[alphabet]}`,
    );
    assert.ok(largest < bounds[alphabet], statistics.map((each) => each.toFixed(1)).join(" "));
  });
}
