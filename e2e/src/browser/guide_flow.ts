/** The web application of the guide about passkeys, saved and run as printed. */
import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Browser } from "playwright-core";
import { programs } from "../guide_programs.ts";
import type { KeysteadServer } from "../keystead_server.ts";
import { newPageWithAuthenticator } from "./chromium.ts";
import { press, startGuideApp } from "./guide_app.ts";

export async function guideFlow(t: TestContext, browser: Browser, keystead: KeysteadServer): Promise<void> {
  const page = await newPageWithAuthenticator(t, browser);
  const [app = "", program = "", ...others] = programs("docs/guides/passkeys.md");
  assert.deepEqual(others, []);
  await page.goto(await startGuideApp(t, keystead, { "app.ts": app, "page.ts": program }));
  assert.equal(await press(page, "Sign up"), "signed up");
  assert.match(await press(page, "Sign in"), /^0x[0-9a-fA-F]{40} 0x[0-9a-f]{128}0[01]$/);
}
