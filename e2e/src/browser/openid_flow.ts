/** `@turnkey/core` with a real OpenID provider, whose login page is in the same browser. */
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { startOpenIdProvider } from "../identity/openid_provider.ts";
import { assertSignsRefreshesAndLogsOut, sessionClaims } from "./checks.ts";
import type { Flow } from "./flow.ts";
import type { OpenidSteps } from "./page/openid.ts";

export const openidFlow: Flow = async (t, { keystead, parentId, origin, open }) => {
  const provider = await startOpenIdProvider(`${origin}/openid`);
  t.after(provider.stop);
  const page = await open<OpenidSteps>(t, "openid");

  /** Through the provider's pages and back. Someone who was there before is not asked again. */
  async function tokenOf(user: string) {
    const address = await page.run("start", provider.issuer, provider.clientId);
    await page.leaveFor(address, (page) => signInThere(page, user, origin));
    return page.run("token");
  }

  let organizationId = "";
  await t.test("the first login at the provider signs up, and the session signs", async () => {
    const { oidcToken, publicKey } = await tokenOf("ann");
    const { action, sessionToken } = await page.run("complete", oidcToken, publicKey);
    assert.equal(action, "SIGNUP");
    const claims = await sessionClaims(keystead, sessionToken);
    organizationId = claims.organization_id;
    assert.notEqual(organizationId, parentId);
    assert.equal(claims.public_key, publicKey);
    await assertSignsRefreshesAndLogsOut(page, organizationId);
  });

  await t.test("the next one signs in to the same sub-organization, and cannot sign up twice", async () => {
    const { oidcToken, publicKey } = await tokenOf("ann");
    const { causes } = await page.refusal("signUp", oidcToken, publicKey);
    assert.match(causes.join(), /a sub-organization with this OIDC identity exists: sign in to it/);
    const { action, sessionToken } = await page.run("complete", oidcToken, publicKey);
    assert.equal(action, "LOGIN");
    assert.equal((await sessionClaims(keystead, sessionToken)).organization_id, organizationId);
  });

  await t.test("a token signs in with the key that its nonce names, and with no other", async () => {
    const { oidcToken } = await tokenOf("ann");
    const { causes } = await page.refusal("logIn", oidcToken, await page.run("newKey"));
    assert.match(causes.join(), /could not verify attested stamp signature/);
  });
};

/** The provider asks for login and password, then for consent; both forms have one button. */
async function signInThere(page: Page, user: string, origin: string): Promise<void> {
  while (!page.url().startsWith(origin)) {
    const login = page.locator('input[name="login"]');
    if ((await login.count()) > 0) {
      await login.fill(user);
      await page.locator('input[name="password"]').fill("any");
    }
    const left = page.waitForEvent("framenavigated");
    await page.locator('button[type="submit"]').click();
    await left;
  }
}
