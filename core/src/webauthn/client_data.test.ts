import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameChallenge, parseClientData } from "./client_data.ts";

const parse = (text: string) => parseClientData(new TextEncoder().encode(text));
const parts = '"type":"webauthn.get","challenge":"abc","origin":"https://example.com"';
const read = { type: "webauthn.get", challenge: "abc", origin: "https://example.com", topOrigin: undefined };

test("the fields are read in any order, with any space, escaped or not, and other keys pass", () => {
  for (const text of [
    `{${parts}}`,
    `{${parts},"crossOrigin":false}`,
    `{${parts},"crossOrigin":null,"topOrigin":null}`,
    `{${parts},"tokenBinding":{"status":"supported"}}`,
    `{${parts},"other_keys_can_be_added_here":"do not compare clientDataJSON against a template"}`,
    `{"origin":"https://example.com","challenge":"abc","type":"webauthn.get"}`,
    `\r\n{ "type" : "webauthn.get" , "challenge" : "abc","origin":"https://example.com" } `,
    `{"type":"webauthn.get","challenge":"\\u0061bc","origin":"https:\\/\\/example.com"}`,
  ]) {
    assert.deepEqual(parse(text), read, text);
  }
});

test("the page around is told from `crossOrigin` and `topOrigin`, and is unknown where they make no sense", () => {
  for (const [more, topOrigin] of [
    ['"crossOrigin":true,"topOrigin":"https://example.org"', "https://example.org"],
    ['"crossOrigin":false,"topOrigin":"https://example.org"', "https://example.org"],
    ['"topOrigin":"https://example.org"', "https://example.org"],
    ['"crossOrigin":true', ""],
    ['"crossOrigin":"false"', ""],
    ['"crossOrigin":0', ""],
    ['"topOrigin":7', ""],
  ] as const) {
    assert.deepEqual(parse(`{${parts},${more}}`), { ...read, topOrigin }, more);
  }
});

test("a doubled key is refused wherever it stands", () => {
  for (const text of [
    `{${parts},"type":"webauthn.get"}`,
    `{"challenge":"xyz",${parts}}`,
    `{${parts},"crossOrigin":false,"crossOrigin":true}`,
    `{${parts},"more":{"a":1,"a":1}}`,
  ]) {
    assert.throws(
      () => parse(text),
      { code: "invalid_argument", message: "malformed client data: duplicate key" },
      text,
    );
  }
});

test("what is no object with three texts is refused", () => {
  for (const [text, message] of [
    ["", /not JSON/],
    ["null", /not an object/],
    ["[]", /not an object/],
    [`"${"a"}"`, /not an object/],
    ["{}", /missing or not text/],
    ['{"type":"webauthn.get","challenge":"abc"}', /missing or not text/],
    ['{"type":"webauthn.get","challenge":"abc","origin":null}', /missing or not text/],
    ['{"type":"webauthn.get","challenge":1,"origin":"https://example.com"}', /missing or not text/],
    ['{"type":["webauthn.get"],"challenge":"abc","origin":"https://example.com"}', /missing or not text/],
    [`{${parts}}}`, /not JSON/],
    [`{${parts}`, /not JSON/],
    [`{${parts},}`, /not JSON/],
    [`\ufeff{${parts}}`, /byte order mark/],
    [`{${parts},"typ\\u0065":"x"}`, /an escape inside an object key/],
    [`{${parts},"__proto__":{"type":"webauthn.create"}}`, /`__proto__`/],
    [`{${parts},"pad":"${"x".repeat(4096)}"}`, /longer than 4096 bytes/],
    [`{${parts},"many":[${"0,".repeat(300)}0]}`, /more than 200/],
  ] as const) {
    assert.throws(() => parse(text), { code: "invalid_argument", message }, text);
  }
  assert.throws(() => parseClientData(Uint8Array.of(0x22, 0xc3, 0x28, 0x22)), { message: /not UTF-8/ });
});

test("challenges are the same up to padding and alphabet, and no further", () => {
  for (const [one, other] of [
    ["abcd", "abcd"],
    ["ab-_", "ab+/"],
    ["YQ", "YQ=="],
    ["YWI=", "YWI"],
    ["00ff", "00ff"],
  ] as const) {
    assert.ok(isSameChallenge(one, other) && isSameChallenge(other, one), `${one} ${other}`);
  }
  for (const [one, other] of [
    ["abcd", "abce"],
    ["abcd", "ABCD"],
    ["YQ", "YQ==="],
    ["YQ", "YR"],
    ["=YQ", "YQ"],
    ["abcd", "abcd\n"],
    ["abcd", " abcd"],
    ["abcd", ""],
  ] as const) {
    assert.ok(!isSameChallenge(one, other) && !isSameChallenge(other, one), `${one} ${other}`);
  }
});
