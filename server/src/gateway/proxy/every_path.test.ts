/** Every path of the auth proxy: what is refused on all of them makes nothing, sends nothing and stores nothing. On both databases. */
import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { sealClientSecret } from "@keystead/core/crypto/client_secret_envelope.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { startOauth2Provider } from "../../../../core/test/oauth2_provider.ts";
import { freshClaims, issueToken, makeIssuerKey, nonceFor } from "../../../../core/test/oidc/test_issuer.ts";
import { enableProxy, noCredentials, type ProxyRig, signUpKey } from "../../../test/auth_proxy_rig.ts";
import { newHome } from "../../../test/code_login_rig.ts";
import type { GatewayRig } from "../../../test/gateway_rig.ts";
import { lastMessage } from "../../../test/mail_rig.ts";
import { courierOf } from "../../../test/oauth2_rig.ts";
import { registeredPasskey, testPasskey } from "../../../test/passkeys.ts";
import { done, onBothDatabases } from "../../../test/policy_rig.ts";
import { newKey } from "../../../test/session_rig.ts";
import { testIssuer, testIssuerKey, testToken } from "../../../test/test_issuers.ts";
import { heldToken, loginSignature } from "../../../test/verification_tokens.ts";
import { nodeHpke } from "../../curves/node_hpke.ts";
import { authProxyEndpoints } from "../../fields/auth_proxy_endpoints.ts";
import {
  accountRequest,
  identityLoginRequest,
  loginRequest,
  loginV2Request,
  providerSignInRequest,
  signUpRequest,
  signUpV2Request,
  startCodeRequest,
  verifyCodeRequest,
  verifyCodeV2Request,
} from "../../fields/auth_proxy_requests.ts";
import type { TObject } from "../../fields/schema.ts";
import { openKeyring } from "../../signer/secrets/keyring.ts";

type Path = { schema: TObject | undefined; body(rig: GatewayRig): object };

const start: Path = {
  schema: startCodeRequest,
  body: () => ({ otpType: "OTP_TYPE_EMAIL", contact: "ann@example.com" }),
};
const signUp = (schema: TObject): Path => ({
  schema,
  body: () => ({ ...noCredentials, authenticators: [registeredPasskey(testPasskey(31), "phone")] }),
});
const login = (schema: TObject): Path => ({
  schema,
  body(rig) {
    const held = heldToken(rig.signer);
    const { publicKey } = newKey();
    return { verificationToken: held.token, publicKey, clientSignature: loginSignature(held, publicKey) };
  },
});

/** All thirteen, each with a request that nothing is wrong with. */
const paths: Readonly<Record<string, Path>> = {
  account: { schema: accountRequest, body: () => ({ filterType: "EMAIL", filterValue: "ann@example.com" }) },
  oauth2_authenticate: {
    schema: providerSignInRequest,
    body: () => ({
      ...{ provider: "OAUTH2_PROVIDER_X", clientId: "client-1", authCode: "code", nonce: "nonce" },
      ...{ redirectUri: "https://app.example.com/back", codeVerifier: "v".repeat(43) },
    }),
  },
  oauth_login: {
    schema: identityLoginRequest,
    body(rig) {
      const { publicKey } = newKey();
      return { oidcToken: testToken(rig.signer.clock.nowMs, {}, publicKey), publicKey };
    },
  },
  otp_init: start,
  otp_init_v2: start,
  otp_login: login(loginRequest),
  otp_login_v2: login(loginV2Request),
  otp_verify: { schema: verifyCodeRequest, body: () => ({ otpId: crypto.randomUUID(), otpCode: "123456" }) },
  otp_verify_v2: {
    schema: verifyCodeV2Request,
    body: () => ({ otpId: crypto.randomUUID(), encryptedOtpBundle: "{}" }),
  },
  signup: signUp(signUpRequest),
  signup_v2: signUp(signUpV2Request),
  wallet_kit_client_params: { schema: undefined, body: () => ({}) },
  wallet_kit_config: { schema: undefined, body: () => ({}) },
};

/** Everything that a request could leave behind. */
async function stored({ store }: GatewayRig): Promise<Record<string, number>> {
  const tables = ["activities", "leaves", "outbox", "organizations", "credentials", "sign_up_claims"] as const;
  const counts = await Promise.all(
    tables.map(async (table) => {
      const [row] = await store.db
        .selectFrom(table)
        .select(({ fn }) => fn.countAll<number>().as("count"))
        .execute();
      return [table, Number(row?.count)] as const;
    }),
  );
  return Object.fromEntries(counts);
}

/** Runs what must leave everything as it is. */
async function leavingNothing(rig: GatewayRig, run: () => Promise<void>): Promise<void> {
  const before = await stored(rig);
  await run();
  assert.deepEqual(await stored(rig), before);
}

type Refusal = [what: string, headers: Record<string, string>, status: number, code: number];

async function refuseAll(rig: GatewayRig, proxy: ProxyRig, refusals: readonly Refusal[]): Promise<void> {
  for (const [path, { body }] of Object.entries(paths)) {
    for (const [what, headers, status, code] of refusals) {
      const answer = await proxy.call(path, body(rig), { headers });
      assert.deepEqual([answer.status, answer.body.code], [status, code], `${path}: ${what}`);
      const isForeign = what === "an origin that is not allowed";
      assert.equal(answer.headers["access-control-allow-origin"], isForeign ? undefined : "*", `${path}: ${what}`);
    }
  }
}

onBothDatabases(
  "configurations that are missing, unknown or disabled, and origins that are not allowed",
  async (rig) => {
    const proxy = await enableProxy(rig);
    assert.deepEqual([...proxy.paths].sort(), Object.keys(paths).sort(), "the table has every path");
    const described = Object.entries(authProxyEndpoints);
    assert.deepEqual(
      described.map(([path]) => path),
      Object.keys(paths),
      "OpenAPI has every path",
    );
    for (const [path, { request }] of described) assert.equal(request, paths[path]?.schema ?? request, path);
    const id = "x-auth-proxy-config-id";
    const named = { [id]: proxy.configId };
    await leavingNothing(rig, () =>
      refuseAll(rig, proxy, [
        ["no id", {}, 400, 3],
        ["an empty id", { [id]: " " }, 400, 3],
        ["no id at all", { [id]: "wallet kit" }, 404, 5],
        ["an unknown id", { [id]: "0f4c7c2e-6a52-4f6e-9d0e-7d5d3d8d1c11" }, 404, 5],
        ["the organization's id", { [id]: rig.organizationId }, 404, 5],
      ]),
    );
    await rig.submit(rig.root, "update_auth_proxy_config", { allowedOrigins: ["https://app.example.com"] });
    const origin = "https://app.example.com.evil.com";
    await leavingNothing(rig, () =>
      refuseAll(rig, proxy, [["an origin that is not allowed", { ...named, origin }, 403, 7]]),
    );
    await rig.submit(rig.root, "disable_auth_proxy", {});
    await leavingNothing(rig, () => refuseAll(rig, proxy, [["disabled", named, 403, 7]]));
  },
);

onBothDatabases("bodies that are no request, and each field that is missing or no text", async (rig) => {
  const proxy = await enableProxy(rig);
  await leavingNothing(rig, async () => {
    for (const [path, { schema, body }] of Object.entries(paths)) {
      if (schema === undefined) continue;
      const good = body(rig) as Record<string, unknown>;
      const bent: [what: string, body: string][] = [
        ["empty", ""],
        ["no JSON", "{"],
        ["a list", "[]"],
        ["null", "null"],
        ["a member twice", `{"__x":1,"__x":2}`],
      ];
      const { required = [] } = schema as { required?: string[] };
      assert.ok(required.length > 0, path);
      for (const name of required) {
        const { [name]: _, ...without } = good;
        bent.push(
          [`without ${name}`, JSON.stringify(without)],
          [`${name} null`, JSON.stringify({ ...good, [name]: null })],
        );
        bent.push([`${name} 7`, JSON.stringify({ ...good, [name]: 7 })]);
      }
      for (const [what, sent] of bent) {
        const answer = await proxy.call(path, sent);
        assert.deepEqual(
          [answer.status, answer.body.code],
          [400, 3],
          `${path}: ${what}: ${JSON.stringify(answer.body)}`,
        );
      }
    }
  });
  assert.deepEqual(rig.issuers.asked, []);
});

onBothDatabases("what is refused is named as the body that came names it", async (rig) => {
  const proxy = await enableProxy(rig);
  const person = () => paths.signup_v2?.body(rig) as Record<string, unknown>;
  const bent: [path: string, body: object, field: string][] = [
    ["otp_init", { otpType: "OTP_TYPE_PIGEON", contact: "ann@example.com" }, "otpType"],
    ["otp_init_v2", { otpType: "OTP_TYPE_PIGEON", contact: "ann@example.com" }, "otpType"],
    ["otp_verify", { otpId: "", otpCode: "123456" }, "otpId"],
    ["otp_verify_v2", { otpId: "", encryptedOtpBundle: "{}" }, "otpId"],
    ["signup", { ...person(), organizationName: "x".repeat(256) }, "organizationName"],
    ["signup_v2", { ...person(), userEmail: `${"x".repeat(256)}@example.com` }, "userEmail"],
    ["signup_v2", { ...person(), userPhoneNumber: "\u200b+4479" }, "userPhoneNumber"],
    ["signup_v2", { ...person(), userName: "\u202e" }, "userName"],
    ["signup", { ...person(), apiKeys: [{ ...signUpKey(newKey()), apiKeyName: "" }] }, "apiKeys.0.apiKeyName"],
    ["signup_v2", { ...person(), wallet: { walletName: "", accounts: [] } }, "wallet.walletName"],
  ];
  await leavingNothing(rig, async () => {
    for (const [path, body, field] of bent) {
      const answer = await proxy.call(path, body);
      const message = String(answer.body.message);
      assert.deepEqual([answer.status, answer.body.code], [400, 3], message);
      const named = [...message.matchAll(/field `([^`]*)`/g)].map(([, name]) => name);
      assert.deepEqual(named, [field], `${path}: ${message}`);
    }
  });
});

onBothDatabases("a method that the configuration does not allow, on every path that needs one", async (rig) => {
  const proxy = await enableProxy(rig);
  await rig.submit(rig.root, "update_auth_proxy_config", { allowedAuthMethods: [] });
  const home = await newHome(rig, { userEmail: "ann@example.com" });
  const methodless = ["account", "wallet_kit_client_params", "wallet_kit_config"];
  await leavingNothing(rig, async () => {
    for (const [path, { body }] of Object.entries(paths)) {
      if (methodless.includes(path)) continue;
      const named = path.includes("login") ? { organizationId: home.organizationId } : {};
      const answer = await proxy.call(path, { ...body(rig), ...named });
      if (path === "oauth2_authenticate") {
        assert.equal(answer.status, 404, "it has no credential for any provider");
        continue;
      }
      assert.deepEqual([answer.status, answer.body.code], [403, 7], `${path}: ${JSON.stringify(answer.body)}`);
      assert.match(String(answer.body.message), /^(EMAIL|EMAIL and SMS|PASSKEY|OAUTH) disallowed/, path);
    }
  });
  assert.deepEqual(rig.issuers.asked, []);
});

onBothDatabases("sign-ins name a sub-organization of the proxy's own, or get nothing", async (rig) => {
  const proxy = await enableProxy(rig);
  const elsewhere = "0f4c7c2e-6a52-4f6e-9d0e-7d5d3d8d1c11";
  await leavingNothing(rig, async () => {
    for (const path of ["otp_login", "otp_login_v2", "oauth_login"]) {
      for (const organizationId of [elsewhere, "no id", rig.organizationId]) {
        const body = { ...paths[path]?.body(rig), organizationId };
        const { status } = await proxy.call(path, body);
        assert.ok([400, 403, 404].includes(status), `${path}: ${organizationId}: ${status}`);
      }
    }
  });
});

/** Tokens that nobody may sign up, sign in or be found by. */
function badTokens(rig: GatewayRig, publicKey: string): [what: string, oidcToken: string, message: RegExp][] {
  const { nowMs } = rig.signer.clock;
  const claims = (changes: object = {}) =>
    freshClaims(nowMs, { iss: testIssuer, nonce: nonceFor(publicKey), ...changes });
  const withHeader = (header: object) => issueToken(testIssuerKey, claims(), header as never);
  const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const unsigned = `${base64url({ alg: "none", typ: "JWT" })}.${base64url(claims())}`;
  const hmacSigned = `${base64url({ alg: "HS256", typ: "JWT", kid: testIssuerKey.kid })}.${base64url(claims())}`;
  const secret = JSON.stringify(testIssuerKey.jwk);
  const hmac = createHmac("sha256", secret).update(hmacSigned).digest("base64url");
  const foreign = makeIssuerKey("ES256", testIssuerKey.kid);
  const seconds = Math.floor(nowMs / 1000);
  return [
    ["alg none", `${unsigned}.`, /invalid OIDC token/],
    ["HS256", `${hmacSigned}.${hmac}`, /invalid OIDC token/],
    ["jwk", withHeader({ jwk: foreign.jwk }), /invalid OIDC token/],
    ["jku", withHeader({ jku: "https://evil.example/keys" }), /invalid OIDC token/],
    ["crit", withHeader({ crit: ["exp"] }), /invalid OIDC token/],
    ["several audiences", issueToken(testIssuerKey, claims({ aud: ["client-1", "client-2"] })), /exactly one element/],
    ["expired", issueToken(testIssuerKey, claims({ exp: seconds - 3600 })), /it has expired/],
    ["early", issueToken(testIssuerKey, claims({ nbf: seconds + 3600 })), /it is not valid yet/],
    ["a key of a stranger", issueToken(foreign, claims()), /invalid OIDC token/],
    ["an issuer that is away", issueToken(testIssuerKey, claims({ iss: "https://gone.example" })), /gone\.example/],
  ];
}

onBothDatabases("bad identity tokens sign nobody up or in and find nobody", async (rig) => {
  const proxy = await enableProxy(rig);
  const key = newKey();
  const { publicKey } = key;
  await leavingNothing(rig, async () => {
    for (const [what, oidcToken, message] of badTokens(rig, publicKey)) {
      const oauthProviders = [{ providerName: "Issuer", oidcToken }];
      const sent: [path: string, body: object][] = [
        ["oauth_login", { oidcToken, publicKey }],
        ["oauth_login", { oidcToken, publicKey, organizationId: "0f4c7c2e-6a52-4f6e-9d0e-7d5d3d8d1c11" }],
        ["signup", { ...noCredentials, apiKeys: [signUpKey(key)], oauthProviders }],
        ["signup_v2", { ...noCredentials, apiKeys: [signUpKey(key)], oauthProviders }],
        ["account", { filterType: "OIDC_TOKEN", filterValue: oidcToken }],
        ["account", { filterType: "EMAIL", filterValue: "ann@example.com", oidcToken }],
      ];
      for (const [path, body] of sent) {
        const answer = await proxy.call(path, body);
        assert.deepEqual(
          [answer.status, answer.body.code],
          [400, 3],
          `${path}: ${what}: ${JSON.stringify(answer.body)}`,
        );
        assert.match(String(answer.body.message), message, `${path}: ${what}`);
      }
    }
  });
});

onBothDatabases("a code, a token that is bound to no key and a provider's code are good once", async (rig, t) => {
  const provider = await startOauth2Provider({ clientId: "client-1", clientSecret: "s3cret" });
  t.after(provider.close);
  rig.orders = courierOf(rig, provider);
  const proxy = await enableProxy(rig);
  const contact = "ann@example.com";
  const { otpId } = await proxy.ok("otp_init", { otpType: "OTP_TYPE_EMAIL", contact });
  const { code } = await lastMessage(rig, rig.organizationId);
  const answer = { otpId, otpCode: code };
  const { verificationToken } = await proxy.ok("otp_verify", answer);
  const again = await proxy.call("otp_verify", answer);
  assert.equal(again.status, 400, JSON.stringify(again.body));
  const made = await proxy.ok<{ organizationId: string }>("signup", {
    ...{ ...noCredentials, userEmail: contact, verificationToken },
  });
  const unbound = heldToken(rig.signer, { unbound: true });
  const signIn = () => proxy.call("otp_login", { verificationToken: unbound.token, publicKey: newKey().publicKey });
  assert.equal((await signIn()).status, 200, made.organizationId);
  assert.notEqual((await signIn()).status, 200);

  const { publicKeys } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring);
  const recipient = fromHex(publicKeys.clientSecretEncryption);
  const encryptedClientSecret = toHex(sealClientSecret(nodeHpke, recipient, randomBytes(12), Buffer.from("s3cret")));
  const credential = { provider: "OAUTH2_PROVIDER_X", clientId: "client-1", encryptedClientSecret };
  await done(rig, rig.root, "create_oauth2_credential", credential);
  const redirectUri = "https://app.example.com/back";
  const codeVerifier = "v".repeat(43);
  const asked = {
    ...{ provider: "OAUTH2_PROVIDER_X", clientId: "client-1", redirectUri, codeVerifier, nonce: "nonce" },
    authCode: provider.signIn({ id: "2244994945" }, codeVerifier, redirectUri),
  };
  await rig.submit(rig.root, "update_auth_proxy_config", { allowedAuthMethods: ["email"] });
  assert.match(String((await proxy.call("oauth2_authenticate", asked)).body.message), /^OAUTH disallowed/);
  assert.equal(provider.exchanges, 0);
  await rig.submit(rig.root, "update_auth_proxy_config", { allowedAuthMethods: ["oauth"] });
  assert.equal((await proxy.call("oauth2_authenticate", asked)).status, 200);
  await leavingNothing(rig, async () => {
    const used = await proxy.call("oauth2_authenticate", asked);
    assert.deepEqual([used.status, used.body.code], [400, 3]);
    await provider.close();
    const away = await proxy.call("oauth2_authenticate", { ...asked, authCode: "another" });
    assert.deepEqual([away.status, away.body.code], [503, 14]);
    rig.orders = courierOf(rig, undefined);
    const unconfigured = await proxy.call("oauth2_authenticate", { ...asked, authCode: "third" });
    assert.deepEqual([unconfigured.status, unconfigured.body.code], [400, 9]);
    assert.match(String(unconfigured.body.message), /KEYSTEAD_OAUTH2_PROVIDERS/);
  });
});
