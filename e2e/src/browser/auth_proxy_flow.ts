/** `@turnkey/core` through the auth proxy: sign-up by passkey and by code, without any server of the application's. */
import assert from "node:assert/strict";
import { messageTo } from "../mailbox.ts";
import { assertSignedHello, assertSignsRefreshesAndLogsOut, sessionClaims } from "./checks.ts";
import type { Flow } from "./flow.ts";
import type { AuthProxySteps } from "./page/auth_proxy.ts";

export const authProxyFlow: Flow = async (t, { keystead, parentId, open }) => {
  const page = await open<AuthProxySteps>(t, "auth_proxy");

  await t.test("the kit's configuration loads", async () => {
    const { enabledProviders, organizationId } = await page.run("kit");
    assert.deepEqual([...enabledProviders].sort(), ["email", "passkey", "sms", "wallet"]);
    assert.equal(organizationId, parentId);
  });

  let organizationId = "";
  await t.test("signUpWithPasskey makes a sub-organization with a wallet, which signs", async () => {
    const { sessionToken } = await page.run("signUpWithPasskey");
    organizationId = (await sessionClaims(keystead, sessionToken)).organization_id;
    assert.notEqual(organizationId, parentId);
    await assertSignedHello(await page.run("sign"));
  });

  await t.test("the passkey signs in to it again, and its session signs, refreshes and logs out", async () => {
    await page.run("logOut");
    const { sessionToken } = await page.run("logInWithPasskey");
    assert.equal((await sessionClaims(keystead, sessionToken)).organization_id, organizationId);
    await assertSignsRefreshesAndLogsOut(page, organizationId);
  });

  const other = await open<AuthProxySteps>(t, "auth_proxy");
  const contact = `proxy-${Date.now()}@example.com`;
  let home = "";

  await t.test("a code signs up, and the account is found by its contact", async () => {
    assert.deepEqual(await other.run("account", contact), {});
    const { otpId } = await other.run("startCode", contact);
    const { code } = await messageTo(contact);
    const token = await other.run("verifyCode", otpId, code);
    const { sessionToken } = await other.run("signUpWithCode", token, contact);
    home = (await sessionClaims(keystead, sessionToken)).organization_id;
    await assertSignedHello(await other.run("sign"));
    assert.deepEqual(await other.run("account", contact), { organizationId: home });
    const { causes } = await other.refusal("signUpWithCode", token, contact);
    assert.match(causes.join(), /a sub-organization with this contact exists: sign in to it/);
  });

  await t.test("an encrypted answer signs in, under our key", async () => {
    await other.run("logOut");
    const second = `second-${Date.now()}@example.com`;
    const { otpId, otpEncryptionTargetBundle } = await other.run("startEncryptedCode", second);
    const { code } = await messageTo(second);
    const token = await other.run("verifyEncryptedCode", otpId, otpEncryptionTargetBundle, code);
    const { sessionToken } = await other.run("signUpWithCode", token, second);
    assert.notEqual((await sessionClaims(keystead, sessionToken)).organization_id, home);
    const again = await other.run("logInWithCode", token);
    assert.equal(
      (await sessionClaims(keystead, again.sessionToken)).organization_id,
      (await sessionClaims(keystead, sessionToken)).organization_id,
    );
  });

  await t.test("without our keys completeOtp trusts nobody but the hosted service, and sends no code", async () => {
    const third = `third-${Date.now()}@example.com`;
    const { otpId, otpEncryptionTargetBundle } = await other.run("initOtp", third);
    const { code } = await messageTo(third);
    const { causes } = await other.refusal("completeOtp", third, otpId, otpEncryptionTargetBundle, code);
    assert.match(causes.join(), /expected signer key 046b4f.* does not match signer key from bundle/i);
  });
};
