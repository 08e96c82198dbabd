/** Sign-ins at an OAuth 2.0 provider through gateway, signer and courier, on both databases, with a provider that is a real server. */
import assert from "node:assert/strict";
import { createHash, createPublicKey, randomBytes, verify } from "node:crypto";
import { type TestContext, test } from "node:test";
import { sealClientSecret } from "@keystead/core/crypto/client_secret_envelope.ts";
import { openMessage } from "@keystead/core/crypto/hpke.ts";
import { fromBase58check } from "@keystead/core/encoding/base58.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { decodeOauth2Identity } from "@keystead/core/log/outside_values.ts";
import { checkIdentityToken, parseIdentityToken } from "@keystead/core/oidc/identity_token.ts";
import { startOauth2Provider } from "../../../core/test/oauth2_provider.ts";
import { createGatewayRig, type GatewayRig } from "../../test/gateway_rig.ts";
import { courierOf } from "../../test/oauth2_rig.ts";
import { dialects } from "../../test/open_test_store.ts";
import { done, refusalOf } from "../../test/policy_rig.ts";
import { newKey, query } from "../../test/session_rig.ts";
import { leafOf, ownIssuerUrl } from "../../test/signer_rig.ts";
import { nodeCurves } from "../curves/node_curves.ts";
import { nodeHpke } from "../curves/node_hpke.ts";
import { ownIssuerRoutes } from "../gateway/routes/own_issuer.ts";
import { openKeyring } from "../signer/secrets/keyring.ts";
import { findVersion } from "../store/organizations.ts";
import { oauth2Authenticate } from "./oauth2_authenticate.ts";

const client = { clientId: "client-1", clientSecret: "s3cret" };
const redirectUri = "https://app.example.com/back";
const codeVerifier = "v".repeat(43);

type Flow = {
  rig: GatewayRig;
  provider: Awaited<ReturnType<typeof startOauth2Provider>>;
  oauth2CredentialId: string;
  /** Good parameters of a user who has just signed in at the provider. */
  params(more?: object): Record<string, string>;
};

function onBothDatabases(name: string, run: (flow: Flow) => Promise<void>): void {
  for (const dialect of dialects) {
    test(`on ${dialect} ${name}`, async (t: TestContext) => {
      const rig = await createGatewayRig(t, dialect);
      if (rig === undefined) return;
      const provider = await startOauth2Provider(client);
      t.after(provider.close);
      rig.orders = courierOf(rig, provider);
      const { publicKeys } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring);
      const recipient = fromHex(publicKeys.clientSecretEncryption);
      const envelope = sealClientSecret(nodeHpke, recipient, randomBytes(12), Buffer.from(client.clientSecret));
      const { oauth2CredentialId } = await done<{ oauth2CredentialId: string }>(
        rig,
        rig.root,
        "create_oauth2_credential",
        { provider: "OAUTH2_PROVIDER_X", clientId: client.clientId, encryptedClientSecret: toHex(envelope) },
      );
      const params = (more: object = {}) => ({
        oauth2CredentialId,
        authCode: provider.signIn({ id: "2244994945" }, codeVerifier, redirectUri),
        redirectUri,
        codeVerifier,
        nonce: createHash("sha256").update(newKey().publicKey).digest("hex"),
        ...more,
      });
      await run({ rig, provider, oauth2CredentialId, params });
    });
  }
}

const path = oauth2Authenticate.path as "oauth2_authenticate";

/** The published documents of this deployment as an issuer. */
function documentsOf(rig: GatewayRig): Record<string, Record<string, unknown>> {
  const { publicKeys } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring);
  const routes = ownIssuerRoutes({ curves: nodeCurves, publicUrl: ownIssuerUrl, publicKeys: () => publicKeys });
  const documents: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    void route.handle({ url: route.path } as never, (answer) => {
      assert.ok(answer.kind === "content");
      documents[route.path] = JSON.parse(String(answer.content));
    });
  }
  return documents;
}

/** As anyone can verify it who has the published key. */
function verified(token: string, key: Record<string, string>) {
  const [header = "", payload = "", signature = ""] = token.split(".");
  const publicKey = createPublicKey({ key, format: "jwk" });
  const signed = Buffer.from(`${header}.${payload}`);
  const bytes = Buffer.from(signature, "base64url");
  assert.ok(verify("sha256", signed, { key: publicKey, dsaEncoding: "ieee-p1363" }, bytes));
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  return { header: read(header), payload: read(payload) };
}

const tokenOf = ({ result }: { result: Record<string, unknown> }) =>
  (result.oauth2AuthenticateResult as { oidcToken: string }).oidcToken;

onBothDatabases("a sign-in becomes a token of our own, which others verify by what is published", async (flow) => {
  const { rig, params } = flow;
  const version = await findVersion(rig.store, rig.organizationId);
  const asked = params();
  const activity = await rig.submit(rig.root, path, asked);
  assert.equal(activity.status, "ACTIVITY_STATUS_COMPLETED");
  const documents = documentsOf(rig);
  const { issuer, jwks_uri: keysUrl } = documents["/.well-known/openid-configuration"] ?? {};
  assert.deepEqual([issuer, keysUrl], [ownIssuerUrl, `${ownIssuerUrl}/.well-known/jwks.json`]);
  const [key] = (documents["/.well-known/jwks.json"] as { keys: [Record<string, string>] }).keys;
  const { payload, header } = verified(tokenOf(activity), key);
  const { iat, exp, ...claims } = payload;
  assert.deepEqual(claims, { iss: ownIssuerUrl, sub: "x:2244994945", aud: client.clientId, nonce: asked.nonce });
  assert.equal(Number(exp) - Number(iat), 600);
  const { publicKeys } = openKeyring(rig.signer.rootKey, 1, rig.signer.keyring);
  const kid = createHash("sha256").update(fromHex(publicKeys.identity)).digest("hex").slice(0, 16);
  assert.deepEqual([header, key.kid], [{ alg: "ES256", typ: "JWT", kid }, kid]);
  // By the signer's own strict reader, too.
  const token = parseIdentityToken(tokenOf(activity));
  checkIdentityToken(token, rig.signer.clock.nowMs);
  assert.equal(await findVersion(rig.store, rig.organizationId), version, "no login moves the organization");
});

onBothDatabases("the provider's own token comes encrypted to a key of the client's", async ({ rig, params }) => {
  const target = nodeHpke.generateKey();
  const bearerTokenTargetPublicKey = toHex(nodeHpke.publicKey(target));
  const token = tokenOf(await rig.submit(rig.root, path, params({ bearerTokenTargetPublicKey })));
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
  const bundle = fromBase58check(claims.encrypted_bearer_token);
  const opened = openMessage(nodeHpke, target, bundle.subarray(0, 33), bundle.subarray(33));
  assert.match(Buffer.from(opened).toString("utf8"), /^[\w-]{32}$/);
});

onBothDatabases(
  "the same bytes are one sign-in with one token, and readers see neither code nor token",
  async (flow) => {
    const { rig, provider, params } = flow;
    const asked = params();
    const body = rig.body(path, asked);
    const answers = await Promise.all(Array.from({ length: 5 }, () => rig.send(rig.root, path, body)));
    answers.push(await rig.send(rig.root, path, body));
    assert.equal(new Set(answers.map(tokenOf)).size, 1);
    assert.equal(provider.exchanges, 1);
    const [{ id: activityId } = assert.fail()] = answers;
    const request = { organizationId: rig.organizationId, activityId };
    const { activity } = await query<{ activity: Record<string, never> }>(rig, "get_activity", request, rig.root);
    const shown = JSON.stringify(activity);
    for (const value of [asked.authCode, asked.codeVerifier, tokenOf(answers[0] ?? assert.fail())]) {
      assert.ok(value !== undefined && !shown.includes(value));
    }
  },
);

onBothDatabases("what the provider or the operator refuses is refused, and nothing is stored", async (flow) => {
  const { rig, provider, oauth2CredentialId, params } = flow;
  const refused = async (parameters: object, expected: object) => {
    const error = await rig.submit(rig.root, path, parameters).then(
      () => assert.fail("it was accepted"),
      (thrown: unknown) => thrown,
    );
    assert.partialDeepStrictEqual({ ...(error as object), message: (error as Error).message }, expected);
  };
  await refused(params({ authCode: "unknown" }), {
    code: "invalid_argument",
    message: "OAUTH2_PROVIDER_X: the provider refuses the authorization code (400)",
  });
  await refused(params({ codeVerifier: "w".repeat(43) }), { code: "invalid_argument" });
  provider.failNext({ status: 503, body: {} });
  await refused(params(), { code: "unavailable" });
  const other = { provider: "OAUTH2_PROVIDER_BETA", clientId: client.clientId };
  const { oauth2Credentials } = await query<{ oauth2Credentials: { encryptedClientSecret: string }[] }>(
    rig,
    "list_oauth2_credentials",
    { organizationId: rig.organizationId },
    rig.root,
  );
  const encryptedClientSecret = oauth2Credentials[0]?.encryptedClientSecret;
  await done(rig, rig.root, "update_oauth2_credential", { oauth2CredentialId, ...other, encryptedClientSecret });
  await refused(params(), {
    code: "failed_precondition",
    errorCode: "OAUTH2_PROVIDER_NOT_CONFIGURED",
    message: "OAUTH2_PROVIDER_DISCORD is not configured: name it in KEYSTEAD_OAUTH2_PROVIDERS",
  });
  const { activities } = await query<{ activities: { type: string }[] }>(
    rig,
    "list_activities",
    { organizationId: rig.organizationId },
    rig.root,
  );
  assert.deepEqual(
    activities.filter(({ type }) => type === "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE"),
    [],
  );
});

onBothDatabases(
  "fields that are empty and credentials that are not there have the published refusals",
  async (flow) => {
    const { rig, provider, params } = flow;
    const names = { authCode: "auth_code", codeVerifier: "code_verifier", redirectUri: "redirect_uri", nonce: "nonce" };
    for (const [field, name] of Object.entries(names)) {
      const { message } = await refusalOf(rig.submit(rig.root, path, params({ [field]: "" })));
      assert.equal(message, `${name} must be set`);
    }
    const { errorCode } = await refusalOf(rig.submit(rig.root, path, params({ oauth2CredentialId: "none" })));
    assert.equal(errorCode, "OAUTH2_CREDENTIAL_NOT_FOUND");
    const member = await rig.newPerson("member");
    const { message } = await refusalOf(rig.submit(member, path, params()));
    assert.equal(message, "You don't have sufficient permissions to take this action.");
    assert.equal(provider.exchanges, 0);
  },
);

onBothDatabases("the leaf names who has signed in, and when", async ({ rig, params }) => {
  const taken: Uint8Array[] = [];
  const { request } = rig.link;
  rig.link.request = (async (kind: "prepare", message: never) => {
    const reply = await request(kind, message);
    if (kind === "prepare" && reply.kind === "prepared") taken.push(...reply.value.map(({ leaf }) => leaf));
    return reply;
  }) as typeof request;
  await rig.submit(rig.root, path, params());
  const { outside } = leafOf({ leaf: taken[0] ?? assert.fail() } as never);
  assert.deepEqual(
    outside.map(({ kind, value }) => [kind, value.kind === "bytes" && decodeOauth2Identity(value.value)]),
    [["oauth2Identity", { userId: "2244994945", exchangedAtMs: rig.signer.clock.nowMs }]],
  );
});

onBothDatabases("the token signs its user up and in, and no issuer is asked for its keys", async ({ rig, params }) => {
  const { publicKey } = newKey();
  const nonce = createHash("sha256").update(publicKey).digest("hex");
  const first = tokenOf(await rig.submit(rig.root, path, params({ nonce })));
  const user = { userName: "Ann", apiKeys: [], authenticators: [] };
  const signUp = {
    subOrganizationName: "Ann",
    rootQuorumThreshold: 1,
    rootUsers: [{ ...user, oauthProviders: [{ providerName: "X", oidcToken: first }] }],
  };
  const { subOrganizationId } = await done<{ subOrganizationId: string }>(
    rig,
    rig.root,
    "create_sub_organization",
    signUp,
  );
  const oidcToken = tokenOf(await rig.submit(rig.root, path, params({ nonce })));
  const within = { organizationId: subOrganizationId };
  const { session } = await done<{ session: string }>(rig, rig.root, "oauth_login", { oidcToken, publicKey }, within);
  assert.ok(session);
  const other = { oidcToken, publicKey: newKey().publicKey };
  assert.match((await refusalOf(rig.submit(rig.root, "oauth_login", other, within))).message, /nonce/);
  assert.equal(rig.issuers.asked.length, 0);
});
