import assert from "node:assert/strict";
import { test } from "node:test";
import { comparableContact, countedContact } from "./otp_types.ts";

test("addresses are compared without the case of ASCII letters, and no further", () => {
  assert.equal(comparableContact("email", "Ann@Example.COM"), "ann@example.com");
  for (const address of ["\u212aann@example.com", "\u00c4nn@example.com"]) {
    assert.notEqual(comparableContact("email", address), comparableContact("email", address.toLowerCase()), address);
  }
});

test("all spellings that a mail server may bring to one mailbox are counted as one", () => {
  const spellings: readonly (readonly string[])[] = [
    ["kiss@example.com", "\u212ai\u017fs@example.com", "KI\u017f\u017f@example.com", "ki\u00df@example.com"],
    ["kiss@example.com", "\uff4biss@example.com", "\u{1d424}iss@EXAMPLE.com"],
    ["fine@example.com", "\ufb01ne@example.com", "f\u0131ne@example.com", "f\u034fine@example.com"],
    ["j\u00fcrgen@example.com", "ju\u0308rgen@example.com", "J\u00dcRGEN@example.com", "JU\u0308RGEN@example.com"],
  ];
  for (const [one = "", ...others] of spellings) {
    for (const other of others) assert.equal(countedContact("email", other), countedContact("email", one), other);
  }
  const own = ["ann@example.com", "anna@example.com", "ann+1@example.com", "a.nn@example.com", "\u00e4nn@example.com"];
  assert.equal(new Set(own.map((each) => countedContact("email", each))).size, own.length);
});

test("a number is counted without the zeros behind its country code, however long that is", () => {
  for (const [number, other] of [
    ["+447700900123", "+4407700900123"],
    ["+447700900123", "+44007700900123"],
    ["+15551234567", "+105551234567"],
    ["+79161234567", "+709161234567"],
    ["+201001234567", "+2001001234567"],
    ["+353871234567", "+3530871234567"],
    ["+8801712345678", "+88001712345678"],
    ["+97150123456", "+971050123456"],
  ] as const) {
    assert.equal(countedContact("phone", other), countedContact("phone", number), other);
  }
  // A zero that ends a country code, or that stands further in, is no prefix of anyone's.
  for (const number of ["+201001234567", "+850212345678", "+447070012345", "+4470012345678", "+2202020202"]) {
    assert.equal(countedContact("phone", number), number);
  }
});
