/** `initOtp` and `completeOtp` of `@turnkey/core`, bundled with our keys: one call signs up the first time, and in from then on. */
import assert from "node:assert/strict";
import { messageTo } from "../mailbox.ts";
import { assertSignsRefreshesAndLogsOut, sessionClaims } from "./checks.ts";
import type { Flow } from "./flow.ts";
import type { AuthProxySteps } from "./page/auth_proxy.ts";

export const ownKeysFlow: Flow = async (t, { keystead, open }) => {
  const page = await open<AuthProxySteps>(t, "own_keys");
  const contact = `own-keys-${Date.now()}@example.com`;
  let organizationId = "";

  await t.test("a wrong code is refused as one, and the right one signs up with a wallet", async () => {
    const { otpId, otpEncryptionTargetBundle } = await page.run("initOtp", contact);
    const { code } = await messageTo(contact);
    const wrong = `${code.startsWith("0") ? "1" : "0"}${code.slice(1)}`;
    const refusal = await page.refusal("completeOtp", contact, otpId, otpEncryptionTargetBundle, wrong);
    assert.equal(refusal.code, "INVALID_OTP_CODE", JSON.stringify(refusal));
    const made = await page.run("completeOtp", contact, otpId, otpEncryptionTargetBundle, code);
    assert.equal(made.action, "SIGNUP");
    organizationId = (await sessionClaims(keystead, made.sessionToken)).organization_id;
    await assertSignsRefreshesAndLogsOut(page, organizationId);
  });

  await t.test("the next code signs in to the same sub-organization", async () => {
    const { otpId, otpEncryptionTargetBundle } = await page.run("initOtp", contact);
    const { code } = await messageTo(contact, undefined, 1);
    const { action, sessionToken } = await page.run("completeOtp", contact, otpId, otpEncryptionTargetBundle, code);
    assert.equal(action, "LOGIN");
    assert.equal((await sessionClaims(keystead, sessionToken)).organization_id, organizationId);
  });
};
