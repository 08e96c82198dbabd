/** Sign-up and sign-in through the auth proxy by identities at other issuers, from its routes to the signer, on both databases. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { sealClientSecret } from "@keystead/core/crypto/client_secret_envelope.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { startOauth2Provider } from "../../../../core/test/oauth2_provider.ts";
import { nonceFor } from "../../../../core/test/oidc/test_issuer.ts";
import { enableProxy, noCredentials, openProxy, signUpKey } from "../../../test/auth_proxy_rig.ts";
import { userIn } from "../../../test/code_login_rig.ts";
import type { GatewayRig } from "../../../test/gateway_rig.ts";
import { onBothDatabasesWithLog } from "../../../test/leaf_checks.ts";
import { courierOf } from "../../../test/oauth2_rig.ts";
import { registeredPasskey, testPasskey } from "../../../test/passkeys.ts";
import { done } from "../../../test/policy_rig.ts";
import { claimsOf, newKey } from "../../../test/session_rig.ts";
import { ownIssuerUrl } from "../../../test/signer_rig.ts";
import { testIssuer, testToken } from "../../../test/test_issuers.ts";
import { heldToken, signUpSignature } from "../../../test/verification_tokens.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { nodeHpke } from "../../curves/node_hpke.ts";
import { openKeyring } from "../../signer/secrets/keyring.ts";
import { withOwnIssuer } from "../issuers/own_statements.ts";

type SignedUp = { organizationId: string; userId: string };

const tokenOf = (rig: GatewayRig, key?: { publicKey: string }, claims: object = {}) =>
  testToken(rig.signer.clock.nowMs, { ...claims }, key?.publicKey);
const byToken = (oidcToken: string) => ({ providerName: "Google", oidcToken });
const claims = { iss: testIssuer, sub: "subject-1", aud: "client-1" };

async function countOrganizations({ store }: GatewayRig): Promise<number> {
  return (await store.db.selectFrom("organizations").select("organization_id").execute()).length;
}

for (const path of ["signup", "signup_v2"]) {
  onBothDatabasesWithLog(
    `${path} by an identity token; its owner is found and signs in, and others are not`,
    async (rig) => {
      const proxy = await enableProxy(rig);
      const key = newKey();
      const oidcToken = tokenOf(rig, key);
      const find = (filterType: string, filterValue: string) => proxy.ok("account", { filterType, filterValue });
      assert.deepEqual(await find("OIDC_TOKEN", oidcToken), {});
      const early = await proxy.call("oauth_login", { oidcToken, publicKey: key.publicKey });
      assert.deepEqual([early.status, early.body.errorCode], [401, "CREDENTIAL_NOT_FOUND"]);
      const body = { ...noCredentials, apiKeys: [signUpKey(key)], oauthProviders: [byToken(oidcToken)] };
      const made = await proxy.ok<SignedUp>(path, body);
      const user = await userIn(rig, made.organizationId, made.userId);
      assert.deepEqual([user.oauthProviders?.[0]?.subject, user.oauthProviders?.[0]?.proven], ["subject-1", true]);
      assert.equal(user.apiKeys[0]?.proven, undefined);
      for (const [type, value] of [
        ["OIDC_TOKEN", oidcToken],
        ["OIDC_TOKEN", Buffer.from(oidcToken).toString("base64")],
        ["OIDC_CLAIMS", JSON.stringify(claims)],
      ] as const) {
        assert.deepEqual(await find(type, value), { organizationId: made.organizationId }, type);
      }
      assert.deepEqual(await find("OIDC_CLAIMS", JSON.stringify({ ...claims, aud: "client-2" })), {});
      const forged = await proxy.call("account", {
        filterType: "OIDC_TOKEN",
        filterValue: oidcToken.replace(/.{4}$/, "AAAA"),
      });
      assert.equal(forged.status, 400);

      const session = newKey();
      const fresh = tokenOf(rig, session);
      for (const more of [{}, { organizationId: made.organizationId, invalidateExisting: true }]) {
        const login = await proxy.ok("oauth_login", { oidcToken: fresh, publicKey: session.publicKey, ...more });
        const { organization_id, user_id } = claimsOf(String(login.session));
        assert.deepEqual([organization_id, user_id], [made.organizationId, made.userId]);
      }
      const stolen = await proxy.call("oauth_login", { oidcToken: fresh, publicKey: newKey().publicKey });
      assert.equal(stolen.status, 400);
      assert.match(String(stolen.body.message), /its nonce is not the hash/);
      const own = { oidcToken: fresh, publicKey: session.publicKey, organizationId: rig.organizationId };
      assert.equal((await proxy.call("oauth_login", own)).status, 403, "nobody signs in to the parent");

      const again = { ...noCredentials, oauthProviders: [byToken(tokenOf(rig))] };
      const taken = await proxy.call(path, again);
      assert.deepEqual([taken.status, taken.body.code], [409, 6]);
      await rig.submit(rig.root, "update_auth_proxy_config", { allowedAuthMethods: ["passkey"] });
      const disallowed = await proxy.call("oauth_login", { oidcToken: fresh, publicKey: session.publicKey });
      assert.match(String(disallowed.body.message), /^OAUTH disallowed/);
    },
  );
}

onBothDatabasesWithLog("of sign-ups with one OIDC identity at once, one makes a sub-organization", async (rig) => {
  const proxy = await enableProxy(rig);
  const gateways = [0, 1, 2].map(() => openProxy(rig, proxy.configId, proxy.userId));
  const answers = await Promise.all(
    Array.from({ length: 9 }, (_, index) => {
      const key = newKey();
      const oauthProviders = [byToken(tokenOf(rig, key))];
      return gateways[index % 3]?.call("signup_v2", { ...noCredentials, apiKeys: [signUpKey(key)], oauthProviders });
    }),
  );
  const statuses = answers.map((answer) => answer?.status).sort();
  assert.deepEqual(statuses, [200, ...Array.from({ length: 8 }, () => 409)]);
  assert.equal(await countOrganizations(rig), 2);
});

onBothDatabasesWithLog(
  "an identity brings the key that its nonce names, and nothing of anybody else's",
  async (rig) => {
    const proxy = await enableProxy(rig);
    const key = newKey();
    const oauthProviders = [byToken(tokenOf(rig, key))];
    const authenticators = [registeredPasskey(testPasskey(5), "phone")];
    const apiKeys = [signUpKey(key)];
    const other = byToken(tokenOf(rig, newKey(), { sub: "subject-2" }));
    const otherAudience = { providerName: "Google", oidcClaims: { ...claims, aud: "client-2" } };
    const held = heldToken(rig.signer);
    const email = "ann@example.com";
    const signed = (providers: object[]) => ({
      ...noCredentials,
      userEmail: email,
      oauthProviders: providers,
      verificationToken: held.token,
      clientSignature: signUpSignature(held, "signupV2", {
        ...{ apiKeys: [], authenticators: [], oauthProviders: providers, email },
      } as never),
    });
    const cases: [what: string, body: object, status: number, message: RegExp][] = [
      ["a key of a thief", { apiKeys: [signUpKey()], oauthProviders }, 400, /its nonce is not the hash/],
      ["a token without nonce", { apiKeys, oauthProviders: [byToken(tokenOf(rig))] }, 400, /its nonce is not the hash/],
      ["a second key", { apiKeys: [...apiKeys, signUpKey()], oauthProviders }, 400, /the one API key that the nonce/],
      ["a passkey", { apiKeys, authenticators, oauthProviders }, 400, /the one API key that the nonce/],
      ["another's identity", { oauthProviders: [...oauthProviders, other] }, 400, /the one API key that the nonce/],
      [
        "another's identity and the key",
        { apiKeys, oauthProviders: [...oauthProviders, other] },
        400,
        /the one API key that the nonce/,
      ],
      [
        "a thief's address",
        { apiKeys, oauthProviders, userEmail: "thief@example.com" },
        400,
        /no contact but the verified/,
      ],
      ["a thief's number, and no key", { oauthProviders, userPhoneNumber: "+15551234567" }, 400, /no contact but the/],
      ["another's contact", signed(oauthProviders), 400, /its nonce is not the hash/],
      ["another application", { oauthProviders: [...oauthProviders, otherAudience] }, 403, /socialLinkingClientIds/],
      [
        "claims alone",
        { oauthProviders: [{ providerName: "Google", oidcClaims: claims }] },
        403,
        /socialLinkingClientIds/,
      ],
    ];
    for (const [what, body, status, message] of cases) {
      const answer = await proxy.call("signup_v2", { ...noCredentials, ...body });
      assert.equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`);
      assert.match(String(answer.body.message), message, what);
    }
    assert.equal(await countOrganizations(rig), 1);
    // The organization's own second client, and the token's identity alone, without a key.
    const clients = [`${testIssuer}#client-1`, `${testIssuer}#client-2`];
    await rig.submit(rig.root, "update_auth_proxy_config", { socialLinkingClientIds: clients });
    const own = { ...noCredentials, oauthProviders: [byToken(tokenOf(rig)), otherAudience] };
    const made = await proxy.ok<SignedUp>("signup_v2", own);
    const { oauthProviders: kept } = await userIn(rig, made.organizationId, made.userId);
    assert.deepEqual(
      kept?.map(({ audience }) => audience),
      ["client-1", "client-2"],
    );
    const covered = signed([byToken(tokenOf(rig, held.holder, { sub: "subject-3" }))]);
    const withContact = await proxy.ok<SignedUp>("signup_v2", covered);
    assert.deepEqual((await userIn(rig, withContact.organizationId, withContact.userId)).emailVerified, { by: "code" });
  },
);

onBothDatabasesWithLog("a user of an OAuth 2.0 provider signs up and in with a token of our own", async (rig, t) => {
  const client = { clientId: "client-1", clientSecret: "s3cret" };
  const provider = await startOauth2Provider(client);
  t.after(provider.close);
  rig.orders = courierOf(rig, provider);
  const { publicKeys } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring);
  const issuers = withOwnIssuer(rig.issuers, {
    curves: nodeCurves,
    publicUrl: ownIssuerUrl,
    publicKeys: () => publicKeys,
  });
  const proxy = await enableProxy(rig, { issuers });
  const recipient = fromHex(publicKeys.clientSecretEncryption);
  const envelope = sealClientSecret(nodeHpke, recipient, randomBytes(12), Buffer.from(client.clientSecret));
  const encryptedClientSecret = toHex(envelope);
  const credential = { provider: "OAUTH2_PROVIDER_X", clientId: client.clientId, encryptedClientSecret };
  await done(rig, rig.root, "create_oauth2_credential", credential);
  const redirectUri = "https://app.example.com/back";
  const codeVerifier = "v".repeat(43);
  const asked = (key: { publicKey: string }, more: object = {}) => ({
    provider: "OAUTH2_PROVIDER_X",
    clientId: client.clientId,
    authCode: provider.signIn({ id: "2244994945" }, codeVerifier, redirectUri),
    redirectUri,
    codeVerifier,
    nonce: nonceFor(key.publicKey),
    ...more,
  });
  const key = newKey();
  for (const more of [{ clientId: "client-2" }, { provider: "OAUTH2_PROVIDER_DISCORD" }]) {
    const unknown = await proxy.call("oauth2_authenticate", asked(key, more));
    assert.deepEqual([unknown.status, unknown.body.errorCode], [404, "OAUTH2_CREDENTIAL_NOT_FOUND"]);
  }
  const first = await proxy.ok("oauth2_authenticate", asked(key));
  assert.deepEqual(Object.keys(first), ["oidcToken"]);
  const oauthProviders = [byToken(String(first.oidcToken))];
  const made = await proxy.ok<SignedUp>("signup_v2", { ...noCredentials, apiKeys: [signUpKey(key)], oauthProviders });
  const session = newKey();
  const { oidcToken } = await proxy.ok("oauth2_authenticate", asked(session));
  const login = await proxy.ok("oauth_login", { oidcToken, publicKey: session.publicKey });
  assert.equal(claimsOf(String(login.session)).organization_id, made.organizationId);
});

onBothDatabasesWithLog(
  "equal bytes of a sign-up get their answer after its identity token has expired",
  async (rig, t) => {
    const proxy = await enableProxy(rig);
    const key = newKey();
    const nowMs = Date.now();
    const oidcToken = tokenOf(rig, key, { exp: Math.floor(rig.signer.clock.nowMs / 1000) + 300 });
    const body = JSON.stringify({ ...noCredentials, apiKeys: [signUpKey(key)], oauthProviders: [byToken(oidcToken)] });
    const made = await proxy.ok<SignedUp>("signup_v2", body);
    t.mock.timers.enable({ apis: ["Date"], now: nowMs + 45 * 60_000 });
    rig.signer.clock.nowMs += 45 * 60_000;
    const find = await proxy.call("account", { filterType: "OIDC_TOKEN", filterValue: oidcToken });
    assert.match(String(find.body.message), /it has expired/);
    assert.deepEqual(await proxy.ok("signup_v2", body), made);
    assert.equal(await countOrganizations(rig), 2);
  },
);

onBothDatabasesWithLog("what the signer refuses of a sign-up is in its log, and makes nothing else", async (rig) => {
  const proxy = await enableProxy(rig);
  const bodies = [
    noCredentials,
    { ...noCredentials, apiKeys: [signUpKey()], oauthProviders: [byToken(tokenOf(rig, newKey()))] },
  ];
  for (const body of bodies) assert.equal((await proxy.call("signup_v2", body)).status, 400);
  const rows = await rig.store.db
    .selectFrom("activities")
    .innerJoin("leaves", "leaves.activity_id", "activities.activity_id")
    .select("activities.status")
    .where("activities.type", "=", "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8")
    .execute();
  assert.deepEqual(
    rows.map(({ status }) => status),
    ["ACTIVITY_STATUS_FAILED", "ACTIVITY_STATUS_FAILED"],
  );
  assert.equal(await countOrganizations(rig), 1);
});
