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

  await t.test(
    "a token proves the user's next address if it is bound to the session's key, and only then",
    async () => {
      const next = `own-keys-next-${Date.now()}@example.com`;
      const { otpId, otpEncryptionTargetBundle } = await page.run("initOtp", next);
      const { code } = await messageTo(next);
      const unowned = await page.run("verifyOtp", otpId, otpEncryptionTargetBundle, code, false);
      const { causes } = await page.refusal("updateUserEmail", next, unowned);
      assert.match(
        causes.join(),
        /missing parameter: clientSignature: the verification token is bound to a key, which must sign this request's use of it/,
      );
      assert.deepEqual(await page.run("account", next), {});

      const again = await page.run("initOtp", next);
      const second = await messageTo(next, undefined, 1);
      const token = await page.run("verifyOtp", again.otpId, again.otpEncryptionTargetBundle, second.code, true);
      await page.run("updateUserEmail", next, token);
      assert.deepEqual(await page.run("account", next), { organizationId });
      await page.run("logOut");
      const login = await page.run("initOtp", next);
      const third = await messageTo(next, undefined, 2);
      const done = await page.run("completeOtp", next, login.otpId, login.otpEncryptionTargetBundle, third.code);
      assert.equal(done.action, "LOGIN");
      assert.equal((await sessionClaims(keystead, done.sessionToken)).organization_id, organizationId);
    },
  );
};
