import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { encodeEvidenceContent } from "@keystead/core/log/leaf_evidence.ts";
import { makeVerificationToken } from "@keystead/core/otp/verification_token.ts";
import { attestedFields, p256Key, tokenBase } from "../../../core/test/otp/bases.ts";
import { seededRandom } from "../../../core/test/seeded_random.ts";
import { person } from "../../test/members.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { lookupText } from "../state/credentials.ts";
import { verificationTokenId } from "../state/derived_id.ts";
import { sha256 } from "../state/digest.ts";
import { attestedEvidence } from "./attested_evidence.ts";

const random = seededRandom(41);
const otp = p256Key(random);
const bodyMs = 1_800_000_000_000;
const body = Buffer.from('{"organizationId":"x"}');
const made = tokenBase(random, otp, true);
const claims = {
  ...made.claims,
  tokenId: verificationTokenId(new Uint8Array(16), new Uint8Array(32), bodyMs),
  verificationType: "OTP_TYPE_EMAIL" as const,
  contact: "Ann@Example.com",
};
const base = { ...made, claims, token: makeVerificationToken(otp, claims) };
const fields = attestedFields(base, body);
const header = Buffer.from(JSON.stringify(fields)).toString("base64url");
const stamp = attestedEvidence.parse(nodeCurves, header);
const verification = {
  curves: nodeCurves,
  credential: { credentialId: "none" },
  otpKey: fromHex(otp.publicKey),
  allowedOrigins: () => undefined,
};

test("an attested stamp names the contact of its token and the organization that issued it, whatever the case", () => {
  const lookup = attestedEvidence.lookup(stamp);
  assert.deepEqual(lookup, {
    by: "contact",
    organizationId: claims.organizationId,
    kind: "email",
    contact: "Ann@Example.com",
  });
  assert.equal(lookupText(lookup), `contact ${claims.organizationId} email ann@example.com`);
  assert.equal(attestedEvidence.endsAtMs?.(stamp), claims.expiresAtMs);
});

test("it verifies for its body under the otp key alone, and not when its token is from before a restore", () => {
  assert.equal(attestedEvidence.verify(verification, stamp, body), true);
  assert.equal(attestedEvidence.verify(verification, stamp, Buffer.from("{}")), false);
  const other = { ...verification, otpKey: fromHex(base.holder.publicKey) };
  assert.equal(attestedEvidence.verify(other, stamp, body), false);
  assert.equal(attestedEvidence.verify({ ...verification, acceptedAtMs: bodyMs }, stamp, body), false);
  assert.equal(attestedEvidence.verify({ ...verification, acceptedAtMs: bodyMs - 1 }, stamp, body), true);
  const { otpKey: _, ...unready } = verification;
  assert.throws(() => attestedEvidence.verify(unready, stamp, body), { code: "unavailable" });
});

test("leaves and votes keep key, signature, and the token's id and digest, but not the token or the contact", () => {
  const kept = attestedEvidence.keep(nodeCurves, stamp, fields.publicKey);
  assert.ok(kept.kind === "attested");
  assert.deepEqual(kept.value.tokenDigest, sha256(base.token));
  const shown = attestedEvidence.show(header, person("ann"));
  assert.deepEqual(attestedEvidence.keepShown?.(shown), kept, "a vote shows what its leaf keeps");
  for (const text of [JSON.stringify(shown), Buffer.from(encodeEvidenceContent(kept)).toString("latin1")]) {
    assert.ok(!text.includes(base.token.split(".")[2] ?? "") && !/example/i.test(text));
  }
  const long = { ...fields, publicKey: base.holder.longPublicKey.toUpperCase() };
  assert.deepEqual(attestedEvidence.show(JSON.stringify(long), person("ann")), shown);
});
