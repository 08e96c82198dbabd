import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import { attestedFields, p256Key, tokenBase } from "../../test/otp/bases.ts";
import { seededRandom } from "../../test/seeded_random.ts";
import { fromHex } from "../encoding/hex.ts";
import { parseAttestedStamp, verifyAttestedStamp } from "./attested_stamp.ts";

const random = seededRandom(9);
const otp = p256Key(random);
const otpKey = fromHex(otp.publicKey);
const base = tokenBase(random, otp, true);
const body = Buffer.from('{"organizationId":"x"}');
const fields = attestedFields(base, body);
const headerOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const verifies = (value: unknown, bytes: Uint8Array = body, key = otpKey) =>
  verifyAttestedStamp(nodeCurves, key, parseAttestedStamp(nodeCurves, headerOf(value)), bytes);
const unreadable = (why: string) => ({
  code: "unauthenticated",
  message: `could not extract attested stamp: ${why}`,
  errorCode: "SIGNATURE_INVALID",
});

test("a stamp verifies for its body, its token and its key, as base64url and as plain JSON", () => {
  assert.equal(verifies(fields), true);
  const plain = parseAttestedStamp(nodeCurves, JSON.stringify(fields));
  assert.equal(verifyAttestedStamp(nodeCurves, otpKey, plain, body), true);
  assert.equal(plain.token.tokenId, base.claims.tokenId);
  assert.equal(plain.publicKey, base.holder.publicKey);
  assert.equal(verifies({ ...fields, publicKey: base.holder.longPublicKey.toUpperCase() }), true);
});

test("another body, another issuer's token and a token for another key do not verify", () => {
  assert.equal(verifies(fields, Buffer.from("{}")), false);
  assert.equal(verifies(fields, body, fromHex(base.holder.publicKey)), false);
  const other = tokenBase(random, otp, true);
  assert.equal(verifies({ ...fields, publicKeyAttestation: other.token }), false);
  const { publicKey, signature } = attestedFields(other, body);
  assert.equal(verifies({ ...fields, publicKey, signature }), false);
  const unbound = tokenBase(random, otp, false);
  assert.equal(verifies(attestedFields(unbound, body)), false);
});

test("a stamp that cannot be read names the part, tokens of identity providers for now among them", () => {
  const scheme = "scheme is not STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN";
  for (const [value, why] of [
    [{ ...fields, scheme: "STAMP_ATTESTED_SCHEME_P256_OIDC" }, scheme],
    [{ ...fields, signature: undefined }, "signature is missing or not a string"],
    [{ ...fields, publicKeyAttestation: 1 }, "publicKeyAttestation is missing or not a string"],
    [{ ...fields, signature: "30" }, "signature is not DER as hex"],
    [{ ...fields, publicKey: "02" }, "publicKey is not a P-256 key as hex"],
    [{ ...fields, publicKeyAttestation: "a.b.c" }, "publicKeyAttestation is not a verification token"],
    [[fields], "it is not an object"],
    [null, "it is not an object"],
  ] as const) {
    assert.throws(() => parseAttestedStamp(nodeCurves, headerOf(value)), unreadable(why));
  }
  for (const header of ["", "{", "%"]) {
    assert.throws(() => parseAttestedStamp(nodeCurves, header), unreadable("it is not base64url of JSON"));
  }
  assert.throws(() => parseAttestedStamp(nodeCurves, "x".repeat(33_000)), unreadable("it is too long"));
});
