/** The web application of the guide about the auth proxy, saved and run as printed, with each of its three ways to answer a code. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Browser } from "playwright-core";
import { programs } from "../guide_programs.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import { messageTo } from "../mailbox.ts";
import { newPageWithAuthenticator } from "./chromium.ts";
import { type GuideFiles, press, startGuideApp } from "./guide_app.ts";

const signed = /^(0x[0-9a-fA-F]{40}) 0x[0-9a-f]{128}0[01]$/;

/** A wallet that the browser has, as an extension would bring it. */
async function walletScript(): Promise<string> {
  const contents = `
    import { announceWallets } from "./injected_wallets.ts";
    if (location.protocol === "http:") announceWallets();`;
  const stdin = { contents, resolveDir: fileURLToPath(new URL("page", import.meta.url)) };
  const { outputFiles } = await build({ stdin, bundle: true, format: "iife", target: "es2022", write: false });
  return outputFiles[0]?.text ?? "";
}

export async function authProxyGuideFlow(t: TestContext, browser: Browser, keystead: KeysteadServer): Promise<void> {
  const printed = programs("docs/guides/auth-proxy.md");
  const [app = "", program = "", ...ways] = printed.slice(0, -1);
  const changeAddress = printed.at(-1) ?? "";
  assert.equal(ways.length, 3);
  const withoutPlugin = app.replaceAll(/^.*keysteadKeys.*\n/gm, "");
  assert.equal(app.split("\n").length - withoutPlugin.split("\n").length, 2);
  const wallets = await walletScript();
  const names = ["bundled with our keys", "encrypted with our key", "in the plain"];

  for (const [i, code] of ways.entries()) {
    await t.test(`codes ${names[i]}`, async (t) => {
      const files = {
        "app.ts": i === 0 ? app : withoutPlugin,
        "page.ts": `${program}\n${changeAddress}`,
        "code.ts": code,
      };
      const { page, addressAfter, newContact } = await openGuideApp(t, browser, keystead, files, wallets);
      const byCode = await addressAfter("Sign in by code");
      assert.equal(await addressAfter("Sign in by code"), byCode, "the second code signs in");
      if (i > 0) return;
      assert.equal(await press(page, "Sign in by code"), "done");
      newContact();
      assert.equal(await press(page, "Change e-mail address"), "done");
      assert.equal(await addressAfter("Sign in by code"), byCode, "a code to the new address signs in");
      const byPasskey = await addressAfter("Sign up with a passkey");
      assert.equal(await addressAfter("Sign in with a passkey"), byPasskey);
      const byWallet = await addressAfter("Sign in with a wallet");
      assert.equal(await addressAfter("Sign in with a wallet"), byWallet);
      assert.equal(new Set([byCode, byPasskey, byWallet]).size, 3);
      assert.match(await press(page, "Sign hello"), /session/i, "nobody is signed in");
    });
  }
}

async function openGuideApp(
  t: TestContext,
  browser: Browser,
  keystead: KeysteadServer,
  files: GuideFiles,
  wallets: string,
) {
  const page = await newPageWithAuthenticator(t, browser);
  await page.addInitScript(wallets);
  let contact = "";
  let codes = 0;
  const newContact = () => {
    contact = `guide-${randomUUID()}@example.com`;
    codes = 0;
  };
  newContact();
  page.on("dialog", async (dialog) => {
    const isCode = dialog.message().startsWith("The code");
    await dialog.accept(isCode ? (await messageTo(contact, undefined, codes++)).code : contact);
  });
  await page.goto(await startGuideApp(t, keystead, files));
  return {
    page,
    newContact,
    /** The address that signs, after a way in that must succeed. Then nobody is signed in again. */
    async addressAfter(button: string) {
      assert.equal(await press(page, button), "done", button);
      const shown = await press(page, "Sign hello");
      assert.match(shown, signed);
      assert.equal(await press(page, "Log out"), "done");
      return signed.exec(shown)?.[1];
    },
  };
}
