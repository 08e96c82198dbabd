import assert from "node:assert/strict";
import { test } from "node:test";
import { joinExportText, splitImportText } from "./wallet_text.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function split(text: string): [string, string | undefined] {
  const { sentence, passphrase } = splitImportText(encoder.encode(text));
  return [decoder.decode(sentence), passphrase === undefined ? undefined : decoder.decode(passphrase)];
}

test("an import is cut at its first mark; without one there is no passphrase", () => {
  assert.deepEqual(split("one two"), ["one two", undefined]);
  assert.deepEqual(split("one two\n--PASS--\nsecret"), ["one two", "secret"]);
  assert.deepEqual(split("one two\n--PASS--\na\n--PASS--\nb"), ["one two", "a\n--PASS--\nb"]);
  assert.deepEqual(split("one two\n--PASS--\n"), ["one two", undefined]);
  assert.deepEqual(split("one\n--PASS--two"), ["one\n--PASS--two", undefined]);
  assert.deepEqual(split("\n--PASS--\nx"), ["", "x"]);
  assert.deepEqual(split(""), ["", undefined]);
});

test("the parts of an import are views, so wiping the text wipes them", () => {
  const text = encoder.encode("one\n--PASS--\ntwo");
  const { sentence, passphrase } = splitImportText(text);
  text.fill(0);
  assert.ok([...sentence, ...(passphrase ?? [])].every((byte) => byte === 0));
});

test("an export has its passphrase on the next line, in an array of its own", () => {
  const sentence = encoder.encode("one two");
  assert.equal(decoder.decode(joinExportText(sentence, undefined)), "one two");
  assert.equal(decoder.decode(joinExportText(sentence, encoder.encode("secret"))), "one two\nsecret");
  joinExportText(sentence, undefined).fill(0);
  assert.equal(decoder.decode(sentence), "one two");
});
