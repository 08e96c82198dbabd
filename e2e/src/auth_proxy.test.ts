/** The auth proxy over HTTP, on a real server: its port, its headers, its limits. What it decides is in the server's own tests. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { createApiKeyStamper, createClient } from "@keystead/sdk";
import { verifyAppProofSignature } from "@turnkey/crypto";
import { startCaptchaProvider } from "../../core/test/captcha_provider.ts";
import { loopbackIssuer } from "./identity/loopback_issuer.ts";
import { createKey } from "./key_pairs.ts";
import { type KeysteadServer, type ServerOptions, startKeystead } from "./keystead_server.ts";
import { messagesTo, messageTo } from "./mailbox.ts";
import { authenticatorParams, createPasskey } from "./passkeys.ts";
import { rootOf } from "./published/clients.ts";

async function start(t: TestContext, options: ServerOptions = {}): Promise<KeysteadServer> {
  const server = await startKeystead(options);
  t.after(() => server.stop());
  return server;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

type Call = { headers?: Record<string, string>; method?: string; url?: string };

async function call({ bootstrap }: KeysteadServer, path: string, body: string | undefined, options: Call = {}) {
  const { headers = { "x-auth-proxy-config-id": bootstrap.authProxyConfigId }, method = "POST" } = options;
  const answer = await fetch(`${options.url ?? bootstrap.authProxyUrl}/v1/${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text === "" ? {} : JSON.parse(text) };
}

const noCredentials = { apiKeys: [], authenticators: [], oauthProviders: [] };
const json = JSON.stringify;
const passkeySignUp = () =>
  JSON.stringify({ ...noCredentials, authenticators: [authenticatorParams(createPasskey())] });

test("a new server has its proxy on: kits load, a sign-up is answered, and the parent shows its user and feature", async (t) => {
  const server = await start(t);
  const { organizationId } = server.bootstrap;
  const kit = await call(server, "wallet_kit_config", undefined);
  assert.deepEqual([kit.status, kit.body.organizationId], [200, organizationId]);
  assert.equal(kit.headers.get("content-type"), "application/json");
  assert.deepEqual((await call(server, "wallet_kit_client_params", "{}")).body, {});
  const made = await call(server, "signup_v2", passkeySignUp());
  assert.deepEqual(Object.keys(made.body), ["organizationId", "userId", "appProofs"]);
  // The published package takes them as they are.
  for (const proof of made.body.appProofs) verifyAppProofSignature(proof);
  assert.equal(made.body.appProofs.length, 1);
  const { sdk } = rootOf(server);
  const { configs } = await sdk.getOrganizationConfigs({ organizationId });
  assert.deepEqual(
    configs.features?.map(({ name }) => name),
    ["FEATURE_NAME_AUTH_PROXY"],
  );
  const { users } = await sdk.getUsers({ organizationId });
  assert.deepEqual(users.map(({ userName }) => userName).sort(), ["Auth Proxy", "Root user"]);
  const { activities } = await sdk.getActivities({ organizationId });
  const [vote] = activities[0]?.votes ?? [];
  assert.deepEqual([vote?.user.userName, vote?.scheme, vote?.publicKey], ["Auth Proxy", "AUTH_PROXY", ""]);
});

test("votes of requests through the proxy have a message, without the codes that are in it", async (t) => {
  const server = await start(t);
  const { sdk } = rootOf(server);
  const { otpId } = (await call(server, "otp_init", json({ otpType: "OTP_TYPE_EMAIL", contact: "ann@example.com" })))
    .body;
  const { code: otpCode } = await messageTo("ann@example.com", [join(server.dataFolder, "outbox")]);
  assert.equal((await call(server, "otp_verify", json({ otpId, otpCode: "none" }))).status, 400);
  assert.equal((await call(server, "otp_verify", json({ otpId, otpCode }))).status, 200);
  assert.equal((await call(server, "signup_v2", passkeySignUp())).status, 200);
  const { activities } = await sdk.getActivities({ organizationId: server.bootstrap.organizationId });
  const shown = activities.map((activity) => {
    const [vote, ...more] = activity.votes;
    assert.deepEqual([vote?.scheme, more], ["AUTH_PROXY", []]);
    const message = JSON.parse(vote?.message ?? "");
    assert.deepEqual([message.type, message.organizationId], [activity.type, activity.organizationId]);
    const [intent] = Object.values(activity.intent);
    assert.deepEqual(message.parameters, intent, "it says what the intent says");
    assert.ok(!vote?.message.includes(otpCode));
    // What came to nothing has a failure; what did not has none, not even null.
    assert.equal("failure" in activity, activity.status === "ACTIVITY_STATUS_FAILED");
    return [activity.type, activity.status, message.parameters.otpCode?.slice(0, 7)];
  });
  assert.deepEqual(shown, [
    ["ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8", "ACTIVITY_STATUS_COMPLETED", undefined],
    ["ACTIVITY_TYPE_VERIFY_OTP", "ACTIVITY_STATUS_COMPLETED", "sha256:"],
    ["ACTIVITY_TYPE_VERIFY_OTP", "ACTIVITY_STATUS_FAILED", "sha256:"],
    ["ACTIVITY_TYPE_INIT_OTP_V2", "ACTIVITY_STATUS_COMPLETED", undefined],
  ]);
});

test("headers, methods, sizes and origins", async (t) => {
  const server = await start(t);
  const { authProxyConfigId } = server.bootstrap;
  const status = async (headers: Record<string, string>) =>
    (await call(server, "wallet_kit_config", "", { headers })).status;
  assert.equal(await status({}), 400);
  assert.equal(await status({ "X-Auth-Proxy-Config-Id": authProxyConfigId }), 200);
  assert.equal(await status({ "X-AUTH-PROXY-CONFIG-ID": createKey().publicKey }), 404);
  const read = await call(server, "signup_v2", undefined, { method: "GET" });
  assert.deepEqual([read.status, read.body.code], [405, 12]);
  assert.equal((await call(server, "nothing", "{}")).status, 404);
  const long = await call(server, "signup_v2", JSON.stringify({ ...noCredentials, userName: "x".repeat(65_536) }));
  assert.deepEqual([long.status, long.body.code], [413, 3]);
  const malformed = await call(server, "signup_v2", "{");
  assert.deepEqual([malformed.status, malformed.body.code], [400, 3]);
  const preflight = await call(server, "signup_v2", undefined, { method: "OPTIONS" });
  assert.equal(preflight.status, 204);
  assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /x-auth-proxy-config-id.*x-captcha-token/);
  const open = await call(server, "account", "{}");
  assert.deepEqual([open.status, open.headers.get("access-control-allow-origin")], [400, "*"]);
});

test("on a port of its own the proxy is there and the API is not, and the other way round", async (t) => {
  const port = await freePort();
  const server = await start(t, { env: { KEYSTEAD_PROXY_PORT: String(port) } });
  assert.equal(server.bootstrap.authProxyUrl, `http://127.0.0.1:${port}`);
  assert.equal((await call(server, "wallet_kit_config", "")).status, 200);
  assert.equal((await call(server, "wallet_kit_config", "", { url: server.url })).status, 404);
  const api = await fetch(`${server.bootstrap.authProxyUrl}/public/v1/query/whoami`, { method: "POST", body: "{}" });
  assert.equal(api.status, 404);
});

test("budgets are an address's own, as a trusted proxy tells it", async (t) => {
  const env = {
    KEYSTEAD_TRUSTED_PROXIES: "127.0.0.1",
    KEYSTEAD_PROXY_BUDGETS: '{"signUps": 1, "signIns": 1, "lookUps": 1}',
  };
  const server = await start(t, { env });
  const from = (address: string) => ({
    headers: { "x-auth-proxy-config-id": server.bootstrap.authProxyConfigId, "x-forwarded-for": address },
  });
  assert.equal((await call(server, "signup_v2", passkeySignUp(), from("203.0.113.7"))).status, 200);
  const second = await call(server, "signup_v2", passkeySignUp(), from("198.51.100.1, 203.0.113.7"));
  assert.deepEqual([second.status, second.body.code], [429, 8]);
  assert.equal((await call(server, "signup_v2", passkeySignUp(), from("203.0.113.8"))).status, 200);
  const bodies = {
    account: { filterType: "EMAIL", filterValue: "ann@example.com" },
    oauth_login: { oidcToken: "x", publicKey: createKey().publicKey },
  };
  for (const [path, body] of Object.entries(bodies)) {
    const statusFrom = async (address: string) =>
      (await call(server, path, JSON.stringify(body), from(address))).status;
    const first = path === "account" ? 200 : 400;
    assert.deepEqual(
      [await statusFrom("203.0.113.7"), await statusFrom("203.0.113.7"), await statusFrom("203.0.113.8")],
      [first, 429, first],
      path,
    );
  }
});

test("a code goes out by mail and its answer comes back as a token", async (t) => {
  const server = await start(t);
  const contact = `proxy-${Date.now()}@example.com`;
  const started = await call(server, "otp_init", JSON.stringify({ otpType: "OTP_TYPE_EMAIL", contact }));
  const { code } = await messageTo(contact);
  const answered = await call(server, "otp_verify", JSON.stringify({ otpId: started.body.otpId, otpCode: code }));
  assert.deepEqual([answered.status, Object.keys(answered.body)], [200, ["verificationToken"]]);
});

function parentOf({ bootstrap }: KeysteadServer) {
  const { baseUrl, organizationId, apiPublicKey, apiPrivateKey } = bootstrap;
  return createClient({ baseUrl, organizationId, stamper: createApiKeyStamper({ apiPublicKey, apiPrivateKey }) });
}

test("captchas are checked by the courier at the provider of the settings, before a code goes out", async (t) => {
  const provider = await startCaptchaProvider("the-one-key-of-ours");
  t.after(provider.close);
  const env = { KEYSTEAD_CAPTCHA: JSON.stringify({ siteKey: "site", ...provider.settings }) };
  const server = await start(t, { env });
  await parentOf(server).updateAuthProxyConfig({ captchaEnabled: true });
  assert.deepEqual((await call(server, "wallet_kit_client_params", "")).body, { turnstileSiteKey: "site" });
  const contact = `captcha-${Date.now()}@example.com`;
  const ask = (token: string) =>
    call(server, "otp_init_v2", JSON.stringify({ otpType: "OTP_TYPE_EMAIL", contact }), {
      headers: { "x-auth-proxy-config-id": server.bootstrap.authProxyConfigId, "x-captcha-token": token },
    });
  const refused = await ask("made up");
  assert.deepEqual([refused.status, refused.body.code], [403, 7]);
  assert.equal(messagesTo(contact).length, 0);
  assert.equal((await ask(provider.solve())).status, 200);
  assert.equal((await messageTo(contact)).to, contact);
  await provider.close();
  const away = await ask("token");
  assert.deepEqual([away.status, away.body.code], [503, 14]);
  assert.match(away.body.message, /the captcha provider 127\.0\.0\.1:\d+ cannot be reached/);
  assert.doesNotMatch(server.output(), /the-one-key-of-ours/);
});

test("who has signed up by code signs in by an issuer that vouches for the address", async (t) => {
  const { issuer, token } = await loopbackIssuer();
  const server = await start(t, { env: { KEYSTEAD_OIDC_LINKING: issuer } });
  await parentOf(server).updateAuthProxyConfig({ socialLinkingClientIds: ["web"], otpLength: 6 });
  const email = `linked-${Date.now()}@example.com`;
  const begun = await call(server, "otp_init", JSON.stringify({ otpType: "OTP_TYPE_EMAIL", contact: email }));
  const { code } = await messageTo(email);
  const answer = JSON.stringify({ otpId: begun.body.otpId, otpCode: code });
  const { verificationToken } = (await call(server, "otp_verify", answer)).body;
  const made = await call(server, "signup", JSON.stringify({ ...noCredentials, userEmail: email, verificationToken }));
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const { publicKey } = createKey();
  const login = (aud: string) => {
    const oidcToken = token({ sub: `sub-${email}`, aud, email, email_verified: true }, publicKey);
    return call(server, "oauth_login", JSON.stringify({ oidcToken, publicKey }));
  };
  assert.equal((await login("another")).status, 401);
  const linked = await login("web");
  assert.equal(linked.status, 200, JSON.stringify(linked.body));
  const [, payload = ""] = linked.body.session.split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
  assert.deepEqual([claims.organization_id, claims.user_id], [made.body.organizationId, made.body.userId]);
});

test("no first sign-in waits for what strangers have named: private addresses, or more issuers than one caller may", async (t) => {
  const { issuer, token } = await loopbackIssuer();
  const dataFolder = join(mkdtempSync(join(tmpdir(), "keystead-")), "data");
  t.after(() => rmSync(dirname(dataFolder), { recursive: true, force: true }));
  const env = { KEYSTEAD_OIDC_LINKING: "none" };
  const first = await startKeystead({ dataFolder, env });
  const find = (server: KeysteadServer, iss: string) => {
    const filterValue = token({ iss, sub: "nobody" });
    return call(server, "account", JSON.stringify({ filterType: "OIDC_TOKEN", filterValue }));
  };
  for (let n = 0; n <= 100; n++) {
    const { status, body } = await find(first, `https://10.0.0.${n}`);
    assert.deepEqual([status, body.code], [400, 3]);
    assert.match(body.message, /has no public address$/);
  }
  const key = createKey();
  const signUp = {
    ...noCredentials,
    apiKeys: [{ apiKeyName: "key", publicKey: key.publicKey, curveType: "API_KEY_CURVE_P256" }],
    oauthProviders: [{ providerName: "own", oidcToken: token({ sub: "ann" }, key.publicKey) }],
  };
  const made = await call(first, "signup_v2", JSON.stringify(signUp));
  assert.equal(made.status, 200, JSON.stringify(made.body));
  await first.stop();

  // A new courier remembers no issuer, and strangers come first.
  const server = await start(t, { dataFolder, env });
  const answers: number[] = [];
  for (let n = 0; n <= 20; n++) answers.push((await find(server, `http://127.0.0.1:1/${n}`)).status);
  assert.deepEqual(answers, [...Array.from({ length: 20 }, () => 400), 429]);
  const session = createKey();
  const login = { oidcToken: token({ sub: "ann" }, session.publicKey), publicKey: session.publicKey };
  const signedIn = await call(server, "oauth_login", JSON.stringify(login));
  assert.equal(signedIn.status, 200, JSON.stringify(signedIn.body));
  // Somebody is registered at this issuer, so others do not wait there either.
  assert.deepEqual((await find(server, issuer)).body, {});
});
