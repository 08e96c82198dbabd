/** Codes by mail, as an application's server asks for them: with the published server client, and our key given to its helpers. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { encryptOtpCodeToBundle, verifyOtpVerificationToken } from "@turnkey/crypto";
import { signLogin } from "../client_signature.ts";
import { createKey } from "../key_pairs.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import { messageTo } from "../mailbox.ts";
import { apiKeyOf, asPerson, foundOrganization, type Person, refusalOf } from "./clients.ts";

/** The key that target bundles and verification tokens are signed with. */
async function otpKeyOf({ url }: KeysteadServer): Promise<string> {
  const answer = await fetch(`${url}/.well-known/keystead.json`);
  const { publicKeys } = (await answer.json()) as { publicKeys: { otp: string } };
  return publicKeys.otp;
}

export async function oneTimeCodes(t: TestContext, server: KeysteadServer, root: Person): Promise<void> {
  const otpKey = await otpKeyOf(server);
  const client = createKey();

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
    // The published types know the published features alone.
    await root.sdk.setOrganizationFeature({ name: "FEATURE_NAME_SUB_ORGANIZATION_CODES" as never, value: "" });
    const { otpId, code, encrypt } = await start(owner.sdk);
    const { verificationToken } = await owner.sdk.verifyOtp({ otpId, encryptedOtpBundle: await encrypt(code) });
    const claims = await verifyOtpVerificationToken(verificationToken, otpKey);
    assert.equal(claims.organization_id, owner.organizationId);
  });

  await t.test("the application's server signs a user in by code, and the session signs", async () => {
    const contact = `${randomUUID()}@example.com`;
    const { subOrganizationId, wallet, rootUserIds } = await root.sdk.createSubOrganization({
      subOrganizationName: contact,
      rootQuorumThreshold: 1,
      rootUsers: [
        {
          userName: "Ann",
          userEmail: contact,
          apiKeys: [apiKeyOf(createKey())],
          authenticators: [],
          oauthProviders: [],
        },
      ],
      wallet: {
        walletName: "Savings",
        accounts: [
          {
            curve: "CURVE_SECP256K1",
            pathFormat: "PATH_FORMAT_BIP32",
            path: "m/44'/60'/0'/0/0",
            addressFormat: "ADDRESS_FORMAT_ETHEREUM",
          },
        ],
      },
    });
    const { otpId, code, encrypt } = await start(root.sdk, contact);
    const { verificationToken } = await root.sdk.verifyOtp({ otpId, encryptedOtpBundle: await encrypt(code) });
    const key = createKey();
    const { session } = await root.sdk.otpLogin({
      organizationId: subOrganizationId,
      verificationToken,
      publicKey: key.publicKey,
      clientSignature: signLogin(client, verificationToken, key.publicKey),
    });
    const [userId = ""] = rootUserIds ?? [];
    const claims = JSON.parse(Buffer.from(session.split(".")[1] ?? "", "base64url").toString());
    assert.deepEqual([claims.organization_id, claims.user_id], [subOrganizationId, userId]);
    const ann = asPerson(server, { organizationId: subOrganizationId, userId, userName: "Ann", key });
    const { r } = await ann.sdk.signRawPayload({
      signWith: wallet?.addresses[0] ?? "",
      payload: "hello",
      encoding: "PAYLOAD_ENCODING_TEXT_UTF8",
      hashFunction: "HASH_FUNCTION_KECCAK256",
    });
    assert.match(r, /^[0-9a-f]{64}$/);
    const { organizationIds } = await root.sdk.getVerifiedSubOrgIds({ filterType: "EMAIL", filterValue: contact });
    assert.deepEqual(organizationIds, [subOrganizationId]);
  });
}
