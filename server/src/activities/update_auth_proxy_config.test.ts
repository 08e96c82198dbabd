import assert from "node:assert/strict";
import { test } from "node:test";
import { nowMs, runActivity } from "../../test/activity_context.ts";
import { apiKey, organization, person } from "../../test/members.ts";
import type { AuthProxyConfigParams } from "../fields/auth_proxy.ts";
import { linkingClients, namedClients, newAuthProxy, refuseProxyRights } from "../rules/auth_proxy.ts";
import { applyChanges } from "../state/apply_changes.ts";
import { type AuthProxy, put, remove } from "../state/entities.ts";
import type { Pages } from "../state/pages.ts";
import { disableAuthProxy } from "./disable_auth_proxy.ts";
import { enableAuthProxy } from "./enable_auth_proxy.ts";
import { setOrganizationFeature } from "./set_organization_feature.ts";
import { updateAuthProxyConfig } from "./update_auth_proxy_config.ts";

const acme = organization({ users: [person("ann", { apiKeys: [apiKey(0)] })] });
const { pages: withProxy } = applyChanges(acme, newAuthProxy({ configId: "c", userId: "proxy" }, nowMs));

function changed(params: AuthProxyConfigParams, pages: Pages = withProxy, hasCaptcha = false): AuthProxy["settings"] {
  const { changes } = runActivity(updateAuthProxyConfig, pages, params, { hasCaptcha });
  const [change] = changes;
  assert.ok(change?.kind === "authProxy" && change.op === "put");
  return change.value.settings;
}

test("enabling makes one user without credentials, and turns the same configuration on again", () => {
  const first = runActivity(enableAuthProxy, acme, {});
  const kinds = first.changes.map(({ kind }) => kind);
  assert.deepEqual(kinds, ["user", "authProxy", "settings"]);
  const { pages } = applyChanges(acme, first.changes);
  const again = runActivity(enableAuthProxy, pages, {});
  assert.deepEqual(again.result, first.result);
  assert.deepEqual(
    again.changes.map(({ kind }) => kind),
    ["settings"],
  );
  const off = applyChanges(pages, runActivity(disableAuthProxy, pages, {}).changes).pages;
  assert.deepEqual(off.settings.features, []);
  assert.equal(off.authProxies.size, 1);
});

test("a sub-organization has none, and without one there is nothing to configure or to turn on", () => {
  assert.throws(() => runActivity(enableAuthProxy, acme, {}, { parentId: "parent" }), { code: "permission_denied" });
  for (const run of [
    () => runActivity(disableAuthProxy, acme, {}),
    () => runActivity(updateAuthProxyConfig, acme, {}),
    () => runActivity(setOrganizationFeature, acme, { name: "FEATURE_NAME_AUTH_PROXY" }),
  ]) {
    assert.throws(run, { code: "failed_precondition", message: /enable it with enable_auth_proxy$/ });
  }
});

test("what is left out stays, an empty text goes, and every field is kept", () => {
  const all = {
    allowedOrigins: ["https://app.example.com", "capacitor://localhost"],
    allowedAuthMethods: ["passkey", "passkey"],
    sendFromEmailAddress: "no-reply@example.com",
    sendFromEmailSenderName: "Example",
    replyToEmailAddress: "help@example.com",
    emailAuthTemplateId: "t1",
    otpTemplateId: "t2",
    emailCustomizationParams: { appName: "App", logoUrl: "https://example.com/a.png" },
    smsCustomizationParams: { template: "Code: {{.OtpCode}}" },
    walletKitSettings: {
      enabledSocialProviders: ["google", "x"],
      oauthClientIds: { google: "g" },
      oauthRedirectUrl: "https://app.example.com/back",
    },
    otpExpirationSeconds: 60,
    verificationTokenExpirationSeconds: 600,
    sessionExpirationSeconds: 3_600,
    otpAlphanumeric: false,
    otpLength: 6,
    verificationTokenRequiredForGetAccountPii: true,
    socialLinkingClientIds: ["id"],
    captchaEnabled: true,
  };
  const settings = changed(all, withProxy, true);
  assert.deepEqual(settings, {
    allowedOrigins: all.allowedOrigins,
    allowedAuthMethods: ["passkey"],
    sendFromEmailAddress: "no-reply@example.com",
    sendFromEmailSenderName: "Example",
    replyToEmailAddress: "help@example.com",
    emailAuthTemplateId: "t1",
    otpTemplateId: "t2",
    smsTemplate: "Code: {{.OtpCode}}",
    oauthRedirectUrl: "https://app.example.com/back",
    emailCustomization: all.emailCustomizationParams,
    enabledSocialProviders: ["google", "x"],
    oauthClientIds: { google: "g" },
    otpExpirationSeconds: 60,
    verificationTokenExpirationSeconds: 600,
    sessionExpirationSeconds: 3_600,
    otpAlphanumeric: false,
    otpLength: 6,
    verificationTokenRequiredForGetAccountPii: true,
    socialLinkingClientIds: ["id"],
    captchaEnabled: true,
  });
  const proxy = { ...([...withProxy.authProxies.values()][0] as AuthProxy), settings };
  const { pages } = applyChanges(withProxy, [put("authProxy", proxy)]);
  assert.deepEqual(changed({}, pages, true), settings);
  const { sendFromEmailAddress: _, ...rest } = settings;
  assert.deepEqual(changed({ sendFromEmailAddress: "" }, pages, true), rest);
});

test("what could not work is refused", () => {
  const cases: [AuthProxyConfigParams, RegExp][] = [
    [{ allowedOrigins: ["https://*.example.com"] }, /is no origin like/],
    [{ allowedOrigins: ["https://app.example.com/"] }, /is no origin like/],
    [{ allowedAuthMethods: ["EMAIL"] }, /is none of email/],
    [{ otpLength: 5 }, /from 6 to 9/],
    [{ otpExpirationSeconds: 601 }, /from 1 to 600/],
    [{ verificationTokenExpirationSeconds: 0 }, /from 1 to 86400/],
    [{ sessionExpirationSeconds: 31_000_000 }, /from 1 to 2592000/],
    [{ sendFromEmailAddress: "nobody" }, /invalid email address/],
    [{ emailCustomizationParams: { magicLinkTemplate: "javascript:%s" } }, /magicLinkTemplate is no address/],
    [{ smsCustomizationParams: { template: "hello" } }, /has no \{\{\.OtpCode\}\}/],
    [{ walletKitSettings: { enabledSocialProviders: ["myspace"] } }, /is none of google/],
    [{ walletKitSettings: { oauthRedirectUrl: "back" } }, /is no address/],
  ];
  for (const [params, message] of cases) {
    assert.throws(() => changed(params), { code: "invalid_argument", message }, JSON.stringify(params));
  }
  assert.throws(() => changed({ captchaEnabled: true }), { code: "failed_precondition", message: /KEYSTEAD_CAPTCHA/ });
});

test("a client id alone is taken where it says at which issuer it is", () => {
  const [google, apple] = ["https://accounts.google.com", "https://appleid.apple.com"];
  const set = (socialLinkingClientIds: string[], ...linking: string[]) => {
    const identities = { verify: () => assert.fail(), linkingIssuers: new Set(linking) };
    const context = { identities, parentId: undefined };
    return runActivity(updateAuthProxyConfig, withProxy, { socialLinkingClientIds }, context).changes.length;
  };
  set(["web"], google);
  set(["web"]);
  set([`${apple}#web`, `${google}#web`], google, apple);
  assert.throws(() => set([`${apple}#web`, "web"], google, apple), {
    code: "invalid_argument",
    message: `invalid socialLinkingClientIds: \`web\` does not say at which issuer: write it like \`${google}#web\``,
  });
});

test("an application is named by its issuer and its id", () => {
  const [google, apple] = ["https://accounts.google.com", "https://appleid.apple.com"];
  const settings = {
    oauthClientIds: { google: "g", apple: "a", x: "x", discord: "d" },
    socialLinkingClientIds: ["web", "a#b", `${apple}#app`],
  };
  const own = [`${google}#g`, `${apple}#a`, `${apple}#app`];
  assert.deepEqual(namedClients(settings, new Set([google, apple])), own);
  assert.deepEqual(namedClients(settings, new Set()), own);
  assert.deepEqual(linkingClients(settings, new Set([google])), [`${google}#web`, `${google}#a#b`, `${apple}#app`]);
});

test("no change gives the proxy's user anything to act with, or takes it away", () => {
  const user = person("proxy", { userId: "proxy", apiKeys: [] });
  const refused = [
    put("user", { ...user, apiKeys: [apiKey(1)] }),
    put("user", { ...user, userEmail: "a@example.com" }),
    put("user", { ...user, userPhoneNumber: "+15551234567" }),
    put("rootQuorum", { threshold: 1, userIds: ["proxy"] }),
    remove("user", "proxy"),
  ];
  for (const change of refused) {
    assert.throws(() => refuseProxyRights(withProxy, [change]), { code: "invalid_argument", message: /auth proxy/ });
  }
  refuseProxyRights(withProxy, [put("user", { ...user, userName: "Another", userTags: ["t"] })]);
  refuseProxyRights(acme, [remove("user", "proxy")]);
});
