import assert from "node:assert/strict";
import { test } from "node:test";
import { parseEmail, parsePhoneNumber, parseSearchedEmail } from "./contacts.ts";

test("no contact is undefined, whether absent, null or empty", () => {
  for (const none of [undefined, null, ""]) {
    assert.equal(parseEmail(none), undefined);
    assert.equal(parsePhoneNumber(none), undefined);
  }
});

/** 254 bytes with labels of at most 63. */
const longest = `${"a".repeat(64)}@${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(57)}.org`;

test("an e-mail address is kept as given", () => {
  const addresses = [
    "ann@example.com",
    "Ann.Lee+tag@Mail.Example.co.uk",
    "o'neil_1@xn--bcher-kva.example",
    "jürgen@example.org",
    "a.b.c@example.com",
    `${"a".repeat(64)}@example.com`,
    `${"ü".repeat(32)}@example.com`,
    longest,
  ];
  for (const address of addresses) assert.equal(parseEmail(address), address);
});

const whole = "write it like name@example.com";
const domain = "the part after the @ must be a domain such as example.com";
const noEmail: [what: string, text: string, why: string][] = [
  ["no at sign", "example.com", whole],
  ["no local part", "@example.com", whole],
  ["two at signs", "ann@lee@example.com", whole],
  ["a domain of one label", "ann@localhost", domain],
  ["an address for a domain", "ann@127.0.0.1", domain],
  ["a label that begins with a hyphen", "ann@-x.example.com", domain],
  ["a label of 64 characters", `ann@${"b".repeat(64)}.com`, domain],
  ["an empty label", "ann@example..com", domain],
  ["the Kelvin sign for a k in its domain", "ann@\u212aiosk.example", domain],
  ["a long s for an s in its domain", "ann@kio\u017fk.example", domain],
  ["a long s in its last label", "ann@example.te\u017ft", domain],
  ["a domain in another alphabet", "ann@b\u00fccher.example", domain],
  ["a space", "ann lee@example.com", whole],
  ["a line break, which would add a header to a mail", "ann@example.com\nbcc: eve@example.com", whole],
  ["a control character", "a\u0007nn@example.com", whole],
  ["a right-to-left override", "ann\u202e@example.com", whole],
  ["a display name", "Ann <ann@example.com>", whole],
  ["a list", "ann@example.com,eve@example.com", whole],
];
for (const [what, text, why] of noEmail) {
  test(`an e-mail address with ${what} is refused with the published text and name`, () => {
    assert.throws(() => parseEmail(text), {
      code: "invalid_argument",
      errorCode: "INVALID_EMAIL",
      message: `invalid email address: \`${text}\`: ${why}`,
    });
  });
}

const dots = "the part before the @ must not begin or end with a dot or have two in a row";
const flawedEmail: [what: string, text: string, why: string][] = [
  ["a dot before it", ".ann@example.com", dots],
  ["a dot before the @", "ann.@example.com", dots],
  ["a dot alone", ".@example.com", dots],
  ["two dots in a row", "ann..lee@example.com", dots],
  ["a local part of 65 bytes", `${"a".repeat(65)}@example.com`, "the part before the @ is longer than 64 bytes"],
  ["33 letters of two bytes", `${"ü".repeat(33)}@example.com`, "the part before the @ is longer than 64 bytes"],
  ["255 bytes", longest.replace(".org", "x.org"), "it is longer than 254 bytes"],
  ["255 bytes in 254 characters", longest.replace(/^aa/, "ü").replace(".org", "x.org"), "it is longer than 254 bytes"],
];
for (const [what, text, why] of flawedEmail) {
  test(`an e-mail address with ${what} is refused, told why, and still found where it was stored`, () => {
    const message = `invalid email address: \`${text}\`: ${why}`;
    assert.throws(() => parseEmail(text), { code: "invalid_argument", errorCode: "INVALID_EMAIL", message });
    assert.equal(parseSearchedEmail(text), text);
  });
}

test("an address whose domain has a letter that lower-cases to an ASCII one is not even looked for", () => {
  for (const address of ["ann@\u212aiosk.example", "ann@kio\u017fk.example"]) {
    assert.throws(() => parseSearchedEmail(address), { code: "invalid_argument", errorCode: "INVALID_EMAIL" });
  }
});

test("a phone number in E.164 form is kept as given", () => {
  // In Italy, Ivory Coast and Benin the zero belongs to the number. In Britain it does not, and plans change: it stays.
  const zeros = ["+390612345678", "+2250102030405", "+2290151234567", "+4407700900123"];
  for (const number of ["+15551234567", "+4930123456", "+1234567", "+123456789012345", ...zeros]) {
    assert.equal(parsePhoneNumber(number), number);
  }
});

const noPhone: [what: string, text: string][] = [
  ["no plus", "15551234567"],
  ["a leading zero", "+05551234567"],
  ["sixteen digits", "+1234567890123456"],
  ["six digits", "+123456"],
  ["spaces", "+1 555 123 4567"],
  ["letters", "+1555CALLNOW"],
  ["a line break after it", "+15551234567\n"],
  ["digits of another script", "+١٥٥٥١٢٣٤٥٦٧"],
];
for (const [what, text] of noPhone) {
  test(`a phone number with ${what} is refused and told the form`, () => {
    assert.throws(() => parsePhoneNumber(text), {
      code: "invalid_argument",
      message: `invalid phone number: \`${text}\` is not in E.164 form, like +15551234567`,
    });
  });
}
