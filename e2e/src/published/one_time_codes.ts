/** Codes by mail, as an application's server asks for them: with the published server client, and our key given to its helpers. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { encryptOtpCodeToBundle, generateP256KeyPair, verifyOtpVerificationToken } from "@turnkey/crypto";
import type { KeysteadServer } from "../keystead_server.ts";
import { messageTo } from "../mailbox.ts";
import { foundOrganization, type Person, refusalOf } from "./clients.ts";

/** The key that target bundles and verification tokens are signed with. */
async function otpKeyOf({ url }: KeysteadServer): Promise<string> {
  const answer = await fetch(`${url}/.well-known/keystead.json`);
  const { publicKeys } = (await answer.json()) as { publicKeys: { otp: string } };
  return publicKeys.otp;
}

export async function oneTimeCodes(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const otpKey = await otpKeyOf(server);
  const client = generateP256KeyPair();

  async function start(sdk: Person["sdk"], contact = `${randomUUID()}@example.com`) {
    const { otpId, otpEncryptionTargetBundle } = await sdk.initOtp({
      otpType: "OTP_TYPE_EMAIL",
      contact,
      appName: "Example",
    });
    const { code } = await messageTo(contact);
    const encrypt = (typed: string) =>
      encryptOtpCodeToBundle(typed, otpEncryptionTargetBundle, client.publicKey, otpKey);
    return { otpId, contact, code, encrypt };
  }

  await t.test(
    "initOtp sends a code, verifyOtp gives a token for it that the client's own helper verifies",
    async () => {
      const { otpId, contact, code, encrypt } = await start(root.sdk);
      const encryptedOtpBundle = await encrypt(code.toLowerCase());
      const { verificationToken } = await root.sdk.verifyOtp({ otpId, encryptedOtpBundle });
      const claims = await verifyOtpVerificationToken(verificationToken, otpKey);
      assert.deepEqual(
        [claims.contact, claims.verification_type, claims.organization_id, claims.public_key],
        [contact, "OTP_TYPE_EMAIL", root.organizationId, client.publicKey],
      );
      const { emailEvents } = await root.sdk.listEmailEvents({ email: contact });
      for (const { toAddress } of emailEvents) assert.equal(toAddress, contact);
    },
  );

  await t.test("a wrong code and a code too many are refused in the words that clients look for", async () => {
    const { otpId, contact, code, encrypt } = await start(root.sdk);
    const encryptedOtpBundle = await encrypt(code.startsWith("0") ? "111111111" : "000000000");
    const wrong = await refusalOf(root.sdk.verifyOtp({ otpId, encryptedOtpBundle }));
    assert.match(String(wrong), /Invalid OTP code/);
    const params = { otpType: "OTP_TYPE_EMAIL", contact, appName: "Example" };
    for (let codes = 1; codes < 3; codes++) await root.sdk.initOtp(params);
    assert.match(String(await refusalOf(root.sdk.initOtp(params))), /Max number of OTPs have been initiated/);
  });

  await t.test("a sub-organization's own user starts and answers codes there", async () => {
    const [owner] = await foundOrganization(server, root, ["Owner"]);
    assert.ok(owner);
    const { otpId, code, encrypt } = await start(owner.sdk);
    const { verificationToken } = await owner.sdk.verifyOtp({ otpId, encryptedOtpBundle: await encrypt(code) });
    const claims = await verifyOtpVerificationToken(verificationToken, otpKey);
    assert.equal(claims.organization_id, owner.organizationId);
  });
}
