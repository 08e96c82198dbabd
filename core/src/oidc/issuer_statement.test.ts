import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { test } from "node:test";
import { fromHex, toHex } from "../encoding/hex.ts";
import {
  type IssuerStatement,
  makeStatement,
  maxStatementBytes,
  openStatement,
  peekStatement,
} from "./issuer_statement.ts";

const macUnder = (key: Uint8Array) => (content: Uint8Array) =>
  new Uint8Array(createHmac("sha256", key).update(content).digest());
const mac = macUnder(randomBytes(32));
const statement: IssuerStatement = {
  issuer: "https://accounts.example.com",
  keys: '{"keys":[]}',
  fetchedAtMs: 1_800_000_000_000,
};
const refusal = { code: "invalid_argument" };

test("a statement says what the courier said", () => {
  const bytes = makeStatement(mac, statement);
  assert.deepEqual(openStatement(mac, bytes), statement);
  assert.deepEqual(peekStatement(bytes), statement);
});

test("a statement has the bytes that SPEC.md shows", () => {
  const zeroKey = macUnder(new Uint8Array(32));
  const bytes = makeStatement(zeroKey, { issuer: "https://a.b", keys: "{}", fetchedAtMs: 258 });
  const content = `01${"0000000b"}${toHex(new TextEncoder().encode("https://a.b"))}${"00000002"}7b7d${"0000000000000102"}`;
  assert.equal(toHex(bytes), `0000001e${content}${toHex(zeroKey(fromHex(content)))}`);
});

test("a statement with any bit changed, cut short or prolonged is none", () => {
  const bytes = makeStatement(mac, statement);
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const altered = Uint8Array.from(bytes);
    altered[bit >> 3] = (altered[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => openStatement(mac, altered), refusal, `bit ${bit}`);
  }
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => openStatement(mac, bytes.subarray(0, length)), refusal, `length ${length}`);
  }
  assert.throws(() => openStatement(mac, Uint8Array.of(...bytes, 0)), refusal);
});

test("a statement under another key is none", () => {
  const bytes = makeStatement(macUnder(randomBytes(32)), statement);
  assert.throws(() => openStatement(mac, bytes), { ...refusal, message: "no statement of this deployment's courier" });
});

test("bytes of another format are refused although the courier marked them", () => {
  const content = fromHex(`02${"00000000"}${"00000000"}${"0000000000000000"}`);
  const bytes = Uint8Array.of(0, 0, 0, content.length, ...content, ...mac(content));
  assert.throws(() => openStatement(mac, bytes), { ...refusal, message: "unknown format 2 of a statement" });
});

test("the longest statement fits, and one more byte of issuer or keys does not", () => {
  const longest = { ...statement, issuer: "i".repeat(512), keys: "k".repeat(32 * 1024) };
  assert.ok(makeStatement(mac, longest).length <= maxStatementBytes);
  assert.deepEqual(openStatement(mac, makeStatement(mac, longest)), longest);
  assert.throws(() => makeStatement(mac, { ...longest, issuer: "i".repeat(513) }), { code: "internal" });
  assert.throws(() => makeStatement(mac, { ...longest, keys: "k".repeat(32 * 1024 + 1) }), { code: "internal" });
});
