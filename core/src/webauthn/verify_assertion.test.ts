import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import {
  type AssertionParts,
  assertion,
  assertionParts,
  attestedData,
  base64url,
  clientDataJson,
  es256Passkey,
  flags,
  registration,
  rs256Passkey,
  rsaKeyPair,
  sha256,
  type TestPasskey,
} from "../../test/webauthn/authenticator.ts";
import { writeCbor } from "../../test/webauthn/cbor_writer.ts";
import { nobleCurves } from "../crypto/noble_curves.ts";
import { parseStrictEcdsaDer, toEcdsaDer } from "../encoding/der.ts";
import { type ExpectedAssertion, verifyAssertion } from "./verify_assertion.ts";
import { verifyRegistration } from "./verify_registration.ts";
import { stampChallenge } from "./webauthn_stamp.ts";

const passkey = es256Passkey(new Uint8Array(32).fill(3), "example.com", new Uint8Array(20).fill(9));
const rsaPasskey = rs256Passkey(rsaKeyPair(), "example.com", new Uint8Array(32).fill(8));
const challenge = stampChallenge(sha256('{"organizationId":"…"}'));

function expectedOf(by: TestPasskey): ExpectedAssertion {
  const rule = { allowedOrigins: undefined };
  const { publicKey, rpIdHash } = verifyRegistration(nodeCurves, registration(by), rule);
  return { challenge, publicKey, rpIdHash, ...rule };
}
const expected = expectedOf(passkey);

const honest = assertionParts(passkey, challenge);
const verify = (parts: AssertionParts, more: Partial<ExpectedAssertion> = {}) =>
  verifyAssertion(nodeCurves, assertion(passkey, parts), { ...expected, ...more });
const withFlags = (bits: number, more: object = {}) => ({
  ...honest,
  authenticator: { ...honest.authenticator, flags: bits, ...more },
});
const failed = (why: string) => ({ verified: false, why });

test("an honest assertion verifies, with ES256 and RS256, by OpenSSL and by noble", () => {
  for (const by of [passkey, rsaPasskey]) {
    for (const crypto of [nodeCurves, { ...nobleCurves, verifyRs256: nodeCurves.verifyRs256 }]) {
      assert.deepEqual(verifyAssertion(crypto, assertion(by, assertionParts(by, challenge)), expectedOf(by)), {
        verified: true,
        userVerified: true,
        counter: 0,
      });
    }
  }
});

test("it holds for one body, one passkey, one domain and one type, and each failure says which", () => {
  assert.deepEqual(
    verify(honest, { challenge: stampChallenge(sha256("another body")) }),
    failed("the challenge is not the body's"),
  );
  // The 32 bytes of the digest in place of its 64 hex digits.
  assert.deepEqual(
    verify(assertionParts(passkey, base64url(sha256("body"))), { challenge: stampChallenge(sha256("body")) }),
    failed("the challenge is not the body's"),
  );
  assert.deepEqual(verify(honest, { rpIdHash: sha256("example.org") }), failed("the passkey is for another domain"));
  assert.deepEqual(
    verify(honest, { publicKey: expectedOf(rsaPasskey).publicKey }),
    failed("the signature does not verify"),
  );
  assert.deepEqual(
    verify({ ...honest, clientDataJson: clientDataJson("webauthn.create", challenge, "https://example.com") }),
    failed("the type is not webauthn.get"),
  );
  assert.deepEqual(
    verify(assertionParts(passkey, challenge, "https://example.org")),
    failed("the origin `https://example.org` is outside the passkey's domain"),
  );
});

test("origins follow the list where there is one", () => {
  const from = (origin: string) => assertionParts(passkey, challenge, origin);
  const list = { allowedOrigins: ["https://wallet.example"] };
  assert.equal(verify(from("https://wallet.example"), list).verified, true);
  assert.deepEqual(verify(honest, list), failed("the origin `https://example.com` is not an allowed one"));
  assert.equal(verify(from("https://deep.down.example.com")).verified, true);
  assert.equal(verify(from("android:apk-key-hash:abc")).verified, true);
});

test("user presence is required, verification is only told, and nothing is registered by an assertion", () => {
  assert.deepEqual(verify(withFlags(flags.up)), { verified: true, userVerified: false, counter: 0 });
  assert.deepEqual(verify(withFlags(flags.uv)), failed("the user was not present"));
  assert.deepEqual(
    verify(withFlags(flags.up | flags.bs)),
    failed("malformed authenticator data: backed up, but not eligible for backup"),
  );
  assert.deepEqual(
    verify(withFlags(flags.up | flags.at, { attested: attestedData(passkey) })),
    failed("a new credential in an assertion"),
  );
  const extensions = writeCbor({ pairs: [["appid", true]] });
  assert.equal(verify(withFlags(flags.up | flags.ed, { extensions })).verified, true);
  assert.equal(verify(withFlags(flags.up, { extensions })).verified, false);
});

test("the counter is told as it is", () => {
  const counted = { ...honest, authenticator: { ...honest.authenticator, counter: 0xffffffff } };
  assert.deepEqual(verify(counted), { verified: true, userVerified: true, counter: 0xffffffff });
});

test("unknown keys pass, and without a list every page may frame", () => {
  const more = { crossOrigin: true, topOrigin: "https://example.org", other_keys_can_be_added_here: "…" };
  const data = clientDataJson("webauthn.get", challenge, "https://example.com", more);
  assert.equal(verify({ ...honest, clientDataJson: data }).verified, true);
});

test("with a list, a frame's page is one of it, too", () => {
  const framed = (more: object) => {
    const data = clientDataJson("webauthn.get", challenge, "https://example.com", more);
    return verify(
      { ...honest, clientDataJson: data },
      { allowedOrigins: ["https://example.com", "https://shop.example"] },
    );
  };
  for (const more of [
    { crossOrigin: false },
    { crossOrigin: undefined },
    { crossOrigin: null, topOrigin: null },
    { crossOrigin: true, topOrigin: "https://shop.example" },
  ]) {
    assert.equal(framed(more).verified, true, JSON.stringify(more));
  }
  for (const topOrigin of ["https://evil.example", "https://SHOP.example", "https://shop.example.evil.example"]) {
    const flaw = `the page is in a frame of \`${topOrigin}\`, which is not an allowed origin`;
    for (const crossOrigin of [true, false, undefined]) {
      assert.deepEqual(framed({ crossOrigin, topOrigin }), failed(flaw), `${crossOrigin} ${topOrigin}`);
    }
  }
  const silent = "the page is in a frame, and nothing says of which page";
  for (const more of [
    { crossOrigin: true },
    { crossOrigin: "true" },
    { crossOrigin: 1 },
    { topOrigin: ["https://shop.example"] },
  ]) {
    assert.deepEqual(framed(more), failed(silent), JSON.stringify(more));
  }
});

test("a signature is strict DER: high s passes, no other spelling does", () => {
  const made = assertion(passkey, honest);
  const rs = parseStrictEcdsaDer(made.signature);
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const s = BigInt(`0x${rs.subarray(32).toHex()}`);
  const otherS = Uint8Array.fromHex((order - s).toString(16).padStart(64, "0"));
  const check = (signature: Uint8Array) => verifyAssertion(nodeCurves, { ...made, signature }, expected).verified;
  assert.ok(check(made.signature));
  assert.ok(check(toEcdsaDer(Uint8Array.of(...rs.subarray(0, 32), ...otherS))));
  const integer = (value: Uint8Array) => [2, value.length, ...value];
  const sequence = (...parts: number[][]) => Uint8Array.of(0x30, parts.flat().length, ...parts.flat());
  const [r, padded] = [
    integer(Uint8Array.of(0, ...rs.subarray(0, 32))),
    integer(Uint8Array.of(0, 0, ...rs.subarray(32))),
  ];
  for (const wrong of [
    rs,
    sequence(r, padded),
    Uint8Array.of(...made.signature, 0),
    Uint8Array.of(0x30, 0x81, ...made.signature.subarray(1)),
    made.signature.subarray(0, -1),
    new Uint8Array(),
    toEcdsaDer(new Uint8Array(64)),
    toEcdsaDer(Uint8Array.of(...new Uint8Array(32), ...rs.subarray(32))),
  ]) {
    assert.equal(check(wrong), false);
  }
});

test("an RSA signature is as long as its modulus", () => {
  const made = assertion(rsaPasskey, assertionParts(rsaPasskey, challenge));
  const check = (signature: Uint8Array) =>
    verifyAssertion(nodeCurves, { ...made, signature }, expectedOf(rsaPasskey)).verified;
  assert.ok(check(made.signature));
  for (const wrong of [
    Uint8Array.of(0, ...made.signature),
    Uint8Array.of(...made.signature, 0),
    made.signature.subarray(1),
    new Uint8Array(256),
    new Uint8Array(),
  ]) {
    assert.equal(check(wrong), false);
  }
});

test("what a stranger sends never throws, and a key that is none verifies nothing", () => {
  const made = assertion(passkey, honest);
  const empty = new Uint8Array();
  for (const bent of [
    { ...made, authenticatorData: empty },
    { ...made, clientDataJson: empty },
    { ...made, signature: empty },
    { authenticatorData: empty, clientDataJson: empty, signature: empty },
  ]) {
    assert.equal(verifyAssertion(nodeCurves, bent, expected).verified, false);
  }
  for (const publicKey of [
    empty,
    new Uint8Array(33),
    new Uint8Array(32),
    Uint8Array.of(0x30),
    Uint8Array.of(4, ...new Uint8Array(64)),
  ]) {
    assert.deepEqual(verify(honest, { publicKey }), failed("the signature does not verify"));
  }
});

test("a fault of ours is not taken for a refusal", () => {
  const broken = { ...nodeCurves, sha256: () => assert.fail("broken") };
  assert.throws(() => verifyAssertion(broken, assertion(passkey, honest), expected), /broken/);
});
