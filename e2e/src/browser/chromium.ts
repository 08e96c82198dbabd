/** Debian's Chromium with an authenticator in software, driven over its DevTools. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import type { TestContext } from "node:test";
import { type Browser, chromium, type Page } from "playwright-core";
import { patienceMs } from "../../../core/test/patience.ts";

const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";

/** `--no-sandbox`: CI runs as root, and nothing but our own pages is opened. The rest keeps Chromium from calling home. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Fails where there is no Chromium: a suite that is skipped in silence proves nothing. */
export async function startChromium(t: TestContext): Promise<Browser> {
  assert.ok(
    existsSync(executablePath),
    `there is no Chromium at ${executablePath}: run \`apt-get install chromium\`, or name yours in CHROMIUM_PATH`,
  );
  const browser = await chromium.launch({ executablePath, args: flags, headless: true, timeout: patienceMs });
  t.after(() => browser.close());
  return browser;
}

/** A page with storage of its own and an authenticator that says yes to everything, as a person with a fingerprint would. */
export async function newPageWithAuthenticator(t: TestContext, browser: Browser): Promise<Page> {
  const context = await browser.newContext();
  t.after(() => context.close());
  context.setDefaultTimeout(patienceMs);
  // Pages that ask for fonts or pictures elsewhere must not wait for a network.
  await context.route(isElsewhere, (route) => route.abort());
  const page = await context.newPage();
  const devTools = await context.newCDPSession(page);
  await devTools.send("WebAuthn.enable");
  await devTools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return page;
}

/** Whether an address is on another machine. */
export function isElsewhere({ protocol, hostname }: URL): boolean {
  return protocol.startsWith("http") && hostname !== "localhost" && hostname !== "127.0.0.1";
}
