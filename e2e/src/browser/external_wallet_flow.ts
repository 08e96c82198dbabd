/** `@turnkey/core` with wallets that are in the browser already: the wallet's key signs up and in. */
import assert from "node:assert/strict";
import { assertSignsRefreshesAndLogsOut, sessionClaims } from "./checks.ts";
import type { Flow } from "./flow.ts";
import type { ExternalWalletSteps, WalletChain } from "./page/external_wallet.ts";

const chains: readonly WalletChain[] = ["ethereum", "solana"];

export const externalWalletFlow: Flow = async (t, { keystead, parentId, open }) => {
  for (const chain of chains) {
    const page = await open<ExternalWalletSteps>(t, "external_wallet");
    let organizationId = "";

    await t.test(`${chain}: a wallet that nobody knows signs up, and its session signs`, async () => {
      assert.match((await page.refusal("logIn", chain)).causes.join(), /could not find public key in organization/);
      const { action, address, sessionToken } = await page.run("signUpOrIn", chain);
      assert.equal(action, "SIGNUP");
      assert.equal(address.toLowerCase(), (await page.run("address", chain)).toLowerCase());
      organizationId = (await sessionClaims(keystead, sessionToken)).organization_id;
      assert.notEqual(organizationId, parentId);
      await assertSignsRefreshesAndLogsOut(page, organizationId);
    });

    await t.test(`${chain}: after a reload the same wallet signs in, and cannot sign up twice`, async () => {
      await page.reload();
      const { action, sessionToken } = await page.run("signUpOrIn", chain);
      assert.equal(action, "LOGIN");
      assert.equal((await sessionClaims(keystead, sessionToken)).organization_id, organizationId);
      const again = await page.run("logIn", chain);
      assert.equal((await sessionClaims(keystead, again.sessionToken)).organization_id, organizationId);
      const { causes } = await page.refusal("signUp", chain);
      assert.match(causes.join(), /a sub-organization with this public key exists: sign in to it/);
    });
  }
};
