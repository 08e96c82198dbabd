import assert from "node:assert/strict";
import { test } from "node:test";
import { p256 } from "@noble/curves/nist.js";
import fc from "fast-check";
import { testCurves } from "../../test/test_curves.ts";
import { fromBase64url, toBase64url } from "../encoding/base64url.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import type { Curves } from "./curves.ts";
import { signStamp } from "./sign_stamp.ts";
import { eip191Digest, parseStamp, type StampScheme, stampSchemes, verifyStamp } from "./stamp.ts";

const utf8 = new TextEncoder();
const secret = new Uint8Array(32).fill(5);
const body = utf8.encode('{"organizationId":"x"}');
const schemes = Object.keys(stampSchemes) as StampScheme[];
const parse = (header: string) => parseStamp(testCurves, header);
const header = (fields: unknown) => toBase64url(utf8.encode(JSON.stringify(fields)));

type Fields = { publicKey: string; scheme: string; signature: string };
function fieldsOf(scheme: StampScheme): Fields {
  return JSON.parse(new TextDecoder().decode(fromBase64url(signStamp(secret, scheme, body))));
}

const p256Fields = fieldsOf("SIGNATURE_SCHEME_TK_API_P256");
const extraction = {
  code: "unauthenticated",
  message: "could not extract api key stamp",
  errorCode: "SIGNATURE_INVALID",
};
const unknownScheme = { code: "unauthenticated", message: "malformed activity stamp", errorCode: "SIGNATURE_INVALID" };

test("hex of either case, four base64 spellings, extra fields and another order of fields are all one stamp", () => {
  for (const scheme of schemes) {
    const { publicKey, signature } = fieldsOf(scheme);
    const stamp = parse(header({ publicKey, scheme, signature }));
    assert.ok(verifyStamp(testCurves, stamp, body));
    assert.equal(toHex(stamp.publicKeyBytes), publicKey);
    assert.equal(stamp.publicKey, publicKey);
    assert.equal(stamp.signature.length, 64);
    const upper = header({ publicKey: publicKey.toUpperCase(), scheme, signature: signature.toUpperCase() });
    assert.deepEqual(parse(upper), stamp);
    assert.deepEqual(parse(header({ later: [1, { a: null }], signature, scheme, publicKey })), stamp);
    const json = Buffer.from(`${JSON.stringify({ publicKey, scheme, signature, x: "ÿþ?>" })} `);
    for (const encoding of ["base64", "base64url"] as const) {
      assert.deepEqual(parse(json.toString(encoding)), stamp);
      assert.deepEqual(parse(json.toString(encoding).replaceAll("=", "")), stamp);
    }
  }
});

test("an uncompressed key is the same stamp, and one off the curve is none", () => {
  const long = toHex(p256.getPublicKey(secret, false));
  const stamp = parse(header({ ...p256Fields, publicKey: long }));
  assert.deepEqual(stamp, parse(header(p256Fields)));
  const wrongY = long.slice(0, -1) + (long.endsWith("0") ? "2" : "0");
  assert.throws(() => parse(header({ ...p256Fields, publicKey: wrongY })), extraction);
  assert.throws(() => parse(header({ ...p256Fields, publicKey: `06${long.slice(2)}` })), extraction);
});

test("reading a stamp with a compressed key does no curve arithmetic", () => {
  const never = () => assert.fail("curve arithmetic for a key that nobody has looked up");
  const idle: Curves = { ...testCurves, compressPoint: never, verifyP256: never, sha256: never, keccak256: never };
  for (const scheme of schemes) assert.equal(parseStamp(idle, signStamp(secret, scheme, body)).scheme, scheme);
});

test("what cannot be read is refused with the published text and nothing more", () => {
  const { publicKey, scheme, signature } = p256Fields;
  const text = JSON.stringify(p256Fields);
  const raw = (json: string) => toBase64url(utf8.encode(json));
  for (const [why, value] of [
    ["empty", ""],
    ["not base64", "{}"],
    ["not base64 either", `${header(p256Fields)} `],
    ["not JSON", raw("hello")],
    ["not UTF-8", toBase64url(Uint8Array.of(0x22, 0xff, 0x22))],
    ["an array", header([publicKey, scheme, signature])],
    ["null", raw("null")],
    ["a string", raw('"x"')],
    ["two documents", raw(text + text)],
    ["a duplicated field", raw(text.replace("{", `{"scheme":"${scheme}",`))],
    ["a field duplicated by an escape", raw(text.replace("{", '{"\\u0073cheme":"x",'))],
    ["no publicKey", header({ scheme, signature })],
    ["no scheme", header({ publicKey, signature })],
    ["no signature", header({ publicKey, scheme })],
    ["scheme null", header({ publicKey, scheme: null, signature })],
    ["signature a list", header({ publicKey, scheme, signature: [signature] })],
    ["key not hex", header({ publicKey: `0x${publicKey.slice(2)}`, scheme, signature })],
    ["key empty", header({ publicKey: "", scheme, signature })],
    ["key cut", header({ publicKey: publicKey.slice(2), scheme, signature })],
    ["key of another form", header({ publicKey: `05${publicKey.slice(2)}`, scheme, signature })],
    ["key of infinity", header({ publicKey: "00", scheme, signature })],
    ["signature not hex", header({ publicKey, scheme, signature: `${signature}zz` })],
    ["signature odd", header({ publicKey, scheme, signature: `${signature}0` })],
    ["signature empty", header({ publicKey, scheme, signature: "" })],
    ["signature with trailing bytes", header({ publicKey, scheme, signature: `${signature}00` })],
    ["signature raw", header({ publicKey, scheme, signature: "01".repeat(64) })],
    ["too long", header({ ...p256Fields, padding: "x".repeat(32 * 1024) })],
  ] as const) {
    assert.throws(() => parse(value), extraction, why);
  }
});

test("a header of almost 32 KiB is read", () => {
  assert.equal(parse(header({ ...p256Fields, padding: "x".repeat(24_000) })).publicKey, p256Fields.publicKey);
});

test("unknown schemes are refused, also those every object seems to have", () => {
  for (const scheme of ["", "toString", "__proto__", "SIGNATURE_SCHEME_TK_API_P384", "signature_scheme_tk_api_p256"]) {
    assert.throws(() => parse(header({ ...p256Fields, scheme })), unknownScheme, scheme);
  }
});

test("a key or signature of another curve's shape does not fit a scheme", () => {
  const ed = fieldsOf("SIGNATURE_SCHEME_TK_API_ED25519");
  assert.throws(() => parse(header({ ...p256Fields, scheme: ed.scheme })), extraction);
  assert.throws(() => parse(header({ ...ed, scheme: p256Fields.scheme })), extraction);
  assert.throws(() => parse(header({ ...ed, signature: p256Fields.signature })), extraction);
  // P-256 and secp256k1 keys look alike: the stamp is read, looked up under the other curve, and holds for nothing.
  const mixed = parse(header({ ...p256Fields, scheme: "SIGNATURE_SCHEME_TK_API_SECP256K1" }));
  assert.equal(mixed.curve, "API_KEY_CURVE_SECP256K1");
  assert.ok(!verifyStamp(testCurves, mixed, body));
});

test("what a wallet signs is the EIP-191 digest, counted in bytes", () => {
  const digest = (text: string) => toHex(eip191Digest(testCurves, utf8.encode(text)));
  assert.equal(digest("MESSAGE"), "22405f01f4366ef5909e1d24906c0f2171514fc802a924b5dd9d35fe851ed5d1");
  const prefixed = utf8.encode("\x19Ethereum Signed Message:\n2é");
  assert.equal(digest("é"), toHex(testCurves.keccak256(prefixed)));
});

test("our stamps have the published r, and low s", () => {
  const fixture = fromHex("487f361ddfd73440e707f4daa6775b376859e8a3c9f29b3bb694a12927c0213c");
  const stamp = parse(signStamp(fixture, "SIGNATURE_SCHEME_TK_API_P256", utf8.encode("hello from TKHQ!")));
  const published = "b9d0146ae33c9b5b8905a910d916845525aea5c0d96f15be05731951b4559353";
  const highS = BigInt("0xb03f26581a4a6f3a5f11eb01556ba32980a8a1c4fad672a8c6e63da398e95beb");
  assert.equal(toHex(stamp.signature.subarray(0, 32)), published);
  assert.equal(BigInt(`0x${toHex(stamp.signature.subarray(32))}`), p256.Point.Fn.ORDER - highS);
});

test("mutated headers are refused with a published text or are stamps that were not changed in meaning", () => {
  const valid = signStamp(secret, "SIGNATURE_SCHEME_TK_API_ED25519", body);
  const original = parse(valid);
  fc.assert(
    fc.property(fc.nat(valid.length - 1), fc.string({ minLength: 0, maxLength: 2 }), fc.nat(2), (at, text, cut) => {
      const mutated = valid.slice(0, at) + text + valid.slice(at + cut);
      try {
        const stamp = parse(mutated);
        const same = stamp.publicKey === original.publicKey && toHex(stamp.signature) === toHex(original.signature);
        assert.equal(verifyStamp(testCurves, stamp, body), same);
      } catch (error) {
        const { code, message } = error as { code?: string; message?: string };
        assert.equal(code, "unauthenticated");
        assert.ok(message === extraction.message || message === unknownScheme.message);
      }
    }),
    { seed: 41, numRuns: 2000 },
  );
});
