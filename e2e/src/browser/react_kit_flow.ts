/** `@turnkey/react-wallet-kit`, by its own buttons: its configuration loads, and people sign up, in and out. */
import assert from "node:assert/strict";
import { messageTo } from "../mailbox.ts";
import { rootOf } from "../published/clients.ts";
import { isElsewhere, newPageWithAuthenticator } from "./chromium.ts";
import type { Flow } from "./flow.ts";

export const reactKitFlow: Flow = async (t, { keystead, origin, browser }) => {
  const page = await newPageWithAuthenticator(t, browser);
  const elsewhere = new Set<string>();
  const kitPaths: string[] = [];
  page.on("request", (request) => {
    const url = new URL(request.url());
    if (isElsewhere(url)) elsewhere.add(url.origin);
    if (url.pathname.startsWith("/v1/wallet_kit")) kitPaths.push(`${request.method()} ${url.pathname}`);
  });
  await page.goto(`${origin}/react_kit`);
  const text = async (id: string) => (await page.locator(`#${id}`).textContent()) ?? "";
  const state = (expected: string) => page.locator("#state", { hasText: expected }).waitFor();
  const press = (name: string) => page.getByRole("button", { name }).click();

  /** The kit shows the user and the wallet of a sub-organization that has exactly these. */
  async function assertHasWallet(): Promise<void> {
    await state("ready, authenticated");
    await page.waitForFunction(() => [...document.querySelectorAll("p")].every((shown) => shown.textContent));
    const { sdk } = rootOf(keystead);
    const organizationId = await text("organization");
    const { users } = await sdk.getUsers({ organizationId });
    const [wallet] = (await sdk.getWallets({ organizationId })).wallets;
    const { accounts } = await sdk.getWalletAccounts({ organizationId, walletId: wallet?.walletId ?? "" });
    assert.deepEqual(
      [users.map(({ userId }) => userId), accounts.map(({ address }) => address)],
      [[await text("user")], [await text("address")]],
    );
  }

  async function typeCode(contact: string, seen = 0): Promise<void> {
    const { code } = await messageTo(contact, undefined, seen);
    await page.getByText("-digit code we sent to").waitFor();
    for (const [place, character] of [...code].entries()) {
      await page.locator('input[maxlength="1"]').nth(place).fill(character);
    }
  }

  async function logInByCode(contact: string, seen: number): Promise<void> {
    await press("Log out");
    await state("ready, unauthenticated");
    await press("Open");
    await page.getByPlaceholder("Enter your email").fill(contact);
    await page.keyboard.press("Enter");
    await typeCode(contact, seen);
    await assertHasWallet();
  }

  await t.test("its configuration loads from the auth proxy, and its form offers what is allowed there", async () => {
    await state("ready, unauthenticated");
    assert.deepEqual(kitPaths.sort(), ["POST /v1/wallet_kit_client_params", "POST /v1/wallet_kit_config"]);
    await press("Open");
    await page.getByPlaceholder("Enter your email").waitFor();
    await page.getByText("Log in with passkey").waitFor();
    await page.getByText("Continue with wallet").waitFor();
  });

  await t.test("a passkey signs up, out and in", async () => {
    await page.getByText("Sign up with passkey").click();
    await assertHasWallet();
    const userId = await text("user");
    await press("Log out");
    await state("ready, unauthenticated");
    await press("Open");
    await page.getByText("Log in with passkey").click();
    await assertHasWallet();
    assert.equal(await text("user"), userId);
    await press("Log out");
    await state("ready, unauthenticated");
  });

  await t.test("a code signs up, typed into its boxes", async () => {
    const contact = `kit-${Date.now()}@example.com`;
    await press("Open");
    await page.getByPlaceholder("Enter your email").fill(contact);
    await page.keyboard.press("Enter");
    await typeCode(contact);
    await assertHasWallet();
    await press("Log out");
    await state("ready, unauthenticated");
  });

  await t.test(
    "its dialogs verify a user's first address and the next, and codes to each lead her to her account",
    async () => {
      await press("Open");
      await page.getByText("Log in with passkey").click();
      await assertHasWallet();
      const account = [await text("organization"), await text("user"), await text("address")];
      const first = `kit-first-${Date.now()}@example.com`;
      await press("Add e-mail");
      await page.getByPlaceholder("your@email.com").fill(first);
      await press("Continue");
      await typeCode(first);
      await page.getByText("Email updated successfully!").waitFor();
      await page.getByText("Email updated successfully!").waitFor({ state: "detached" });
      await logInByCode(first, 1);
      assert.deepEqual([await text("organization"), await text("user"), await text("address")], account);

      const next = `kit-next-${Date.now()}@example.com`;
      await page.locator("#next").fill(next);
      await press("Change e-mail");
      await typeCode(next);
      await page.getByText("Email changed successfully!").waitFor();
      await page.getByText("Email changed successfully!").waitFor({ state: "detached" });
      await logInByCode(next, 1);
      assert.deepEqual([await text("organization"), await text("user"), await text("address")], account);
      await press("Log out");
      await state("ready, unauthenticated");
    },
  );

  await t.test("a wallet of the browser signs up", async () => {
    await press("Open");
    await page.getByText("Continue with wallet").click();
    await page.getByText("Test Wallet", { exact: true }).click();
    await assertHasWallet();
    await press("Log out");
    await state("ready, unauthenticated");
  });

  // Its form for phone numbers loads a flag from a public host. Nothing goes to the hosted service.
  assert.deepEqual(
    [...elsewhere].filter((origin) => origin.includes("turnkey")),
    [],
  );
};
