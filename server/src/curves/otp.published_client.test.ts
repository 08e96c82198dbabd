/** Codes against the published client itself, with its public-key override: it takes our bundle and token, and we read its answer. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { openEncryptedAttempt } from "@keystead/core/otp/encrypted_attempt.ts";
import { deriveCode, isCode } from "@keystead/core/otp/one_time_code.ts";
import { deriveTargetKey, makeOtpTargetBundle } from "@keystead/core/otp/target_key.ts";
import { makeVerificationToken, type TokenClaims } from "@keystead/core/otp/verification_token.ts";
import { encryptOtpCodeToBundle, generateP256KeyPair, verifyOtpVerificationToken } from "@turnkey/crypto";
import { samples } from "../../../core/test/samples.ts";
import { createMac } from "../state/digest.ts";
import { nodeBundleSigner, nodeHpke } from "./node_hpke.ts";

const otp = nodeBundleSigner(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
const otpKey = toHex(otp.publicKey);
const organizationId = "f9a31c64-d604-42e4-9bef-a773096afad7";
const [codes, targets] = [1, 2].map((fill) => createMac(new Uint8Array(32).fill(fill))) as [
  ReturnType<typeof createMac>,
  ReturnType<typeof createMac>,
];
const otpIdOf = (number: number) => {
  const otpId = new Uint8Array(16);
  new DataView(otpId.buffer).setUint32(0, number);
  return otpId;
};
const targetOf = (otpId: Uint8Array) => deriveTargetKey(nodeHpke, targets, otpId);
const bundleOf = (otpId: Uint8Array) =>
  makeOtpTargetBundle(otp, { organizationId, targetPublicKey: nodeHpke.publicKey(targetOf(otpId)) });

test("the client takes our target bundle, and what it encrypts opens here to the code and its key", async (t) => {
  const rounds = samples.bundleRounds;
  for (let round = 0; round < rounds; round++) {
    const otpId = otpIdOf(round);
    const form = { length: 6 + (round % 4), alphabet: round % 2 === 0 ? "alphanumeric" : "numeric" } as const;
    const code = deriveCode(codes, otpId, form);
    const client = generateP256KeyPair();
    const typed = Buffer.from(code).toString("latin1").toLowerCase();
    const sent = await encryptOtpCodeToBundle(typed, bundleOf(otpId), client.publicKey, otpKey);
    const attempt = openEncryptedAttempt(nodeHpke, targetOf(otpId), sent);
    assert.deepEqual(attempt, { code: typed, publicKey: client.publicKey });
    assert.equal(isCode(code, attempt?.code ?? ""), true);
    assert.equal(openEncryptedAttempt(nodeHpke, targetOf(otpIdOf(round + 1)), sent), undefined, "another code's key");
  }
  t.diagnostic(`${rounds} answers of the published client opened here`);
});

test("the client refuses a target bundle of another signer or with another byte", async () => {
  const client = generateP256KeyPair();
  const bundle = bundleOf(otpIdOf(1));
  await assert.rejects(encryptOtpCodeToBundle("000000", bundle, client.publicKey, client.publicKeyUncompressed));
  const outer = JSON.parse(bundle) as { data: string };
  const bent = { ...outer, data: outer.data.replace(/.$/, "e") };
  assert.notEqual(bent.data, outer.data);
  await assert.rejects(encryptOtpCodeToBundle("000000", JSON.stringify(bent), client.publicKey, otpKey));
});

test("the client verifies our tokens and refuses them under another key or after their end", async () => {
  const client = generateP256KeyPair();
  const claims: TokenClaims = {
    tokenId: "eb39b199-3352-4289-b31f-57194c79609c",
    expiresAtMs: Date.now() + 3_600_000,
    organizationId,
    verificationType: "OTP_TYPE_EMAIL",
    contact: "a~b?c>d@example.com",
    publicKey: client.publicKey,
  };
  for (let round = 0; round < samples.bundleRounds; round++) {
    assert.deepEqual(await verifyOtpVerificationToken(makeVerificationToken(otp, claims), otpKey), {
      exp: String(claims.expiresAtMs),
      id: claims.tokenId,
      organization_id: organizationId,
      verification_type: "OTP_TYPE_EMAIL",
      contact: claims.contact,
      public_key: client.publicKey,
    });
  }
  const token = makeVerificationToken(otp, claims);
  await assert.rejects(verifyOtpVerificationToken(token, client.publicKeyUncompressed), /signature is invalid/);
  const over = makeVerificationToken(otp, { ...claims, expiresAtMs: Date.now() - 1 });
  await assert.rejects(verifyOtpVerificationToken(over, otpKey), /expired/);
});

test("an answer that the client recorded opens with its key", () => {
  const receiver = nodeHpke.importKey(
    Uint8Array.from(Buffer.from("20fa65df11f24833790ae283fc9a0c215eecbbc589549767977994dc69d05a56", "hex")),
  );
  const sent = JSON.stringify({
    encappedPublic:
      "04b36b850a8e5867c64ae421bc6d11e7b43e287073a4322c0b570867fa63d4604b0ac4f7b661af49df6494ea7e6a9acc1dbdb2748c0d0b84e36911e2a9193a62e5",
    ciphertext:
      "d351b5a7560ffc6cfe4c4be53223e5d32375a56cfb40e475a1a18c796a56656c825e8a661cb2b090c2f8a8d4e219ac753359d9bbbcd07950b2b764e7f313b729e77f84baa473277e0d6f5ff192f6045ffb7409e7204b507173deada3eac1c8dc503c5797a3f532da3b6d59373fff2776111b6cdf4d5264",
  });
  const publicKey = "02f739f8c77b32f4d5f13265861febd76e7a9c61a1140d296b8c16302508870316";
  assert.deepEqual(openEncryptedAttempt(nodeHpke, receiver, sent), { code: "000000", publicKey });
});
