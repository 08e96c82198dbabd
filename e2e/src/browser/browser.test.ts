/**
 * Signing in from a browser: a real Chromium with an authenticator in software, the published clients as they are on npm, and our own SDK.
 * Each client acts for a person of its own. Clients do not know the database, so there is one server, on SQLite.
 */
import { test } from "node:test";
import { startKeystead } from "../keystead_server.ts";
import { openPage } from "./app_page.ts";
import { type PageName, startApplication } from "./application.ts";
import { authProxyFlow } from "./auth_proxy_flow.ts";
import { authProxyGuideFlow } from "./auth_proxy_guide_flow.ts";
import { startChromium } from "./chromium.ts";
import { coreClientFlow } from "./core_client_flow.ts";
import { externalWalletFlow } from "./external_wallet_flow.ts";
import type { Flow, FlowContext } from "./flow.ts";
import { guideFlow } from "./guide_flow.ts";
import { httpClientFlow } from "./http_client_flow.ts";
import { keysteadSdkFlow } from "./keystead_sdk_flow.ts";
import { openidFlow } from "./openid_flow.ts";
import { originsFlow } from "./origins_flow.ts";
import { ownKeysFlow } from "./own_keys_flow.ts";
import { reactKitFlow } from "./react_kit_flow.ts";
import { sdkBrowserFlow } from "./sdk_browser_flow.ts";

const flows: Record<PageName, Flow> = {
  http_client: httpClientFlow,
  sdk_browser: sdkBrowserFlow,
  core_client: coreClientFlow,
  auth_proxy: authProxyFlow,
  external_wallet: externalWalletFlow,
  openid: openidFlow,
  own_keys: ownKeysFlow,
  react_kit: reactKitFlow,
  keystead_sdk: keysteadSdkFlow,
};

test("signing in from a browser", async (t) => {
  const browser = await startChromium(t);
  const keystead = await startKeystead();
  t.after(() => keystead.stop());
  const origin = await startApplication(t, keystead);
  const context: FlowContext = {
    keystead,
    parentId: keystead.bootstrap.organizationId,
    origin,
    browser,
    open: (t, page) => openPage(t, browser, origin, page),
  };
  for (const [name, flow] of Object.entries(flows)) await t.test(name, (t) => flow(t, context));
  await t.test("passkeys work on the pages that the parent lists, and on no other", (t) => originsFlow(t, context));
  await t.test("the application of the guide about passkeys works as printed", (t) => guideFlow(t, browser, keystead));
  await t.test(
    "the application of the guide about the auth proxy works as printed, with all three ways for codes",
    (t) => authProxyGuideFlow(t, browser, keystead),
  );
});
