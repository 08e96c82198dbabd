import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeCurves } from "../../../server/src/curves/node_curves.ts";
import { p256Key } from "../../test/otp/bases.ts";
import { seededRandom } from "../../test/seeded_random.ts";
import { makeSessionJwt } from "../crypto/session_jwt.ts";
import { fromHex } from "../encoding/hex.ts";
import {
  checkVerificationToken,
  makeVerificationToken,
  parseVerificationToken,
  type TokenClaims,
  type TokenJudgement,
  tokenBodyMs,
  verifyVerificationToken,
} from "./verification_token.ts";

/** A token that the hosted service of this wire has made, and its public key. */
const recorded =
  "eyJ0eXAiOiJKV1QiLCJhbGciOiJFUzI1NiJ9.eyJleHAiOiIxNzgyOTE5NjUxMjYxIiwiaWQiOiJlYjM5YjE5OS0zMzUyLTQyODktYjMxZi01NzE5NGM3OTYwOWMiLCJvcmdhbml6YXRpb25faWQiOiI3ZmYxODlmYi1kZjdkLTQ1MmUtODU0MC01NzYzMmUzODBiNzciLCJ2ZXJpZmljYXRpb25fdHlwZSI6Ik9UUF9UWVBFX0VNQUlMIiwiY29udGFjdCI6InVzZXJAZXhhbXBsZS5jb20iLCJwdWJsaWNfa2V5IjoiMDM2MzM1Yjc4ZjkyNzM2ZTMyZTk5ZGM2YWVkOTc5YWZmMGI1YzI0MTkyZTc2YjE2MjhhYTU0ZWRhZjU4YzhjMTVkIn0.YMtLA5vVUTiYhW5CIitrGXb-fk4MWx-MNVC4etopkKVro6tn0CP-Uz7biSZOunASsEc3jkjJWnFIn2AMpuZomg";
const recordedKey =
  "046b4f88421f76b6ba418afc2ea1d8ced671337d7db6b80478a60d8531bf8f17fa9a512f0fef96fc0c9b4cd9dff70b34992e520ce04c79d931f6ff6296b547d201";
const recordedClaims: TokenClaims = {
  tokenId: "eb39b199-3352-4289-b31f-57194c79609c",
  expiresAtMs: 1_782_919_651_261,
  organizationId: "7ff189fb-df7d-452e-8540-57632e380b77",
  verificationType: "OTP_TYPE_EMAIL",
  contact: "user@example.com",
  publicKey: "036335b78f92736e32e99dc6aed979aff0b5c24192e76b1628aa54edaf58c8c15d",
};

const otp = p256Key(seededRandom(3));
const bodyMs = 1_800_000_000_000;
const claims: TokenClaims = {
  ...recordedClaims,
  tokenId: `${bodyMs
    .toString(16)
    .padStart(12, "0")
    .replace(/^(.{8})/, "$1-")}-7000-8000-000000000001`,
  expiresAtMs: bodyMs + 3_600_000,
};
const judgement: TokenJudgement = {
  otpKey: fromHex(otp.publicKey),
  nowMs: bodyMs + 1_000,
  acceptedAtMs: 0,
  organizationIds: ["00000000-0000-4000-8000-000000000001", claims.organizationId],
};
const check = (token: string, change: Partial<TokenJudgement> = {}) =>
  checkVerificationToken(nodeCurves, token, { ...judgement, ...change });

test("header, claims and their order are those of a recorded token, which reads and verifies here", () => {
  const sent = parseVerificationToken(recorded);
  const { signed, signature, ...read } = sent;
  assert.deepEqual(read, recordedClaims);
  const compressed = nodeCurves.compressPoint("p256", fromHex(recordedKey));
  assert.equal(verifyVerificationToken(nodeCurves, compressed, sent), true);
  assert.equal(verifyVerificationToken(nodeCurves, fromHex(otp.publicKey), sent), false);
  const own = makeVerificationToken(otp, recordedClaims);
  assert.equal(own.slice(0, own.lastIndexOf(".")), recorded.slice(0, recorded.lastIndexOf(".")));
  assert.ok(signed.length > 0 && signature.length === 64);
});

test("a token of ours is taken until its end, in the organization that issued it and below", () => {
  const token = makeVerificationToken(otp, claims);
  assert.deepEqual(check(token), claims);
  assert.deepEqual(check(token, { nowMs: claims.expiresAtMs - 1 }), claims);
  const refusal = (why: RegExp) => ({ code: "invalid_argument", message: why });
  assert.throws(() => check(token, { nowMs: claims.expiresAtMs }), refusal(/it has expired/));
  assert.throws(() => check(token, { organizationIds: [] }), refusal(/issued by another organization/));
  assert.throws(() => check(recorded), refusal(/its signature does not verify/));
});

test("after a restore no token from before it is taken: the id tells when its body was made", () => {
  const token = makeVerificationToken(otp, claims);
  assert.equal(tokenBodyMs(claims), bodyMs);
  assert.throws(() => check(token, { acceptedAtMs: bodyMs }), { message: /the database was restored since/ });
  assert.deepEqual(check(token, { acceptedAtMs: bodyMs - 1 }), claims);
});

test("a token may be bound to no key, and any contact survives the way through base64 and atob", () => {
  const unbound = { ...claims, publicKey: undefined };
  const token = makeVerificationToken(otp, unbound);
  assert.deepEqual(check(token), unbound);
  assert.ok(!Buffer.from(token.split(".")[1] ?? "", "base64url").includes("public_key"));
  for (const contact of ["a~b?c>d@example.com", "ünï@exämple.com", '"\\\u{1f511}\u007f@example.com']) {
    const odd = makeVerificationToken(otp, { ...claims, contact });
    assert.equal(check(odd).contact, contact);
    assert.doesNotMatch(odd.split(".")[1] ?? "", /[-_]/);
  }
});

test("a session token, whoever signed it and over what, is no verification token", () => {
  const session = {
    expiresAtSeconds: 1_900_000_000,
    publicKey: otp.publicKey,
    sessionType: "SESSION_TYPE_READ_WRITE",
    userId: claims.tokenId,
    organizationId: claims.organizationId,
  };
  assert.throws(() => check(makeSessionJwt(otp, session)), {
    code: "invalid_argument",
    message: /it is another kind of token/,
  });
});

test("every refusal says that it is about the token, and quotes nothing of it", () => {
  for (const token of ["", "..", "a.b.c", recorded.slice(1), "x".repeat(5_000), recorded.replace("eyJl", "eyJs")]) {
    assert.throws(
      () => check(token),
      (error: Error) => /^invalid verification token: [a-z0-9_ ;]+$/.test(error.message),
    );
  }
});
