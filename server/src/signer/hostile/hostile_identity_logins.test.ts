/**
 * A gateway that wants somebody else signed in by an identity token: by statements that the courier has not made, or made about somebody
 * else, or long ago; by tokens that are for another key, application or issuer; and by stamps that are for another body.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { ownIssuerKey } from "@keystead/core/oidc/own_issuer.ts";
import { makeIssuerKey, nonceFor, type TestIssuerKey } from "../../../../core/test/oidc/test_issuer.ts";
import {
  askStamped,
  askUnstamped,
  beside,
  change,
  createProxiedSigner,
  organizationOf,
  preparedIn,
  refusalIn,
  signUp,
} from "../../../test/proxied_signer.ts";
import { newKey } from "../../../test/session_rig.ts";
import { activityBody, createSignerRig, ownIssuerUrl } from "../../../test/signer_rig.ts";
import {
  createTestIssuers,
  identityEvidence,
  testIssuer,
  testIssuerKey,
  testToken,
} from "../../../test/test_issuers.ts";
import { nodeCurves } from "../../curves/node_curves.ts";
import { nodeTokenCrypto } from "../../curves/node_token_crypto.ts";
import type { OfferedState } from "../../frames/messages.ts";
import { openKeyring } from "../secrets/keyring.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const evilIssuer = "https://evil.example";
/** A key of the attacker's, under the name of the issuer's. */
const evilKey: TestIssuerKey = (() => {
  const key = makeIssuerKey("ES256", testIssuerKey.kid);
  return { ...key, jwk: { ...key.jwk, kid: testIssuerKey.kid } };
})();

type Brought = { statements?: readonly Uint8Array[]; others?: readonly OfferedState[] };
type Key = ReturnType<typeof newKey>;
type Token = { claims?: object; boundTo?: string; signedBy?: TestIssuerKey };

/** Ann, who has signed up by her identity and nothing else, and every way to sign in as her. */
function createAnn() {
  const proxied = createProxiedSigner();
  const { rig, proxy } = proxied;
  const { statementMac } = openKeyring(rig.rootKey, 1, rig.keyring);
  const issuers = createTestIssuers(statementMac, rig.clock);
  const statement = (issuer = testIssuer, keys = [testIssuerKey], agoMs = 0) =>
    issuers.statement(issuer, keys, rig.clock.nowMs - agoMs);
  const token = (boundTo: string, { claims = {}, signedBy = testIssuerKey }: Token = {}) =>
    testToken(rig.clock.nowMs, { ...claims }, boundTo, signedBy);
  const oauthProviders = [{ providerName: "Issuer", oidcToken: token("") }];
  const home = signUp(proxied, { oauthProviders }, { statements: [statement()] });
  const organizationId = organizationOf(home);
  const child = { ...proxied, state: home };
  const good = (): Required<Brought> => ({ statements: [statement()], others: [beside(proxied.state)] });
  const expirationSeconds = String(proxy.settings.sessionExpirationSeconds);
  const loginBody = (key: Key, { boundTo = key.publicKey, ...sent }: Token = {}) => {
    const parameters = { oidcToken: token(boundTo, sent), publicKey: key.publicKey, expirationSeconds };
    return activityBody(rig, "ACTIVITY_TYPE_OAUTH_LOGIN", parameters, { organizationId });
  };
  const ways: Record<string, (key: Key, sent: Token, brought: Brought) => ReturnType<typeof askStamped>> = {
    "oauth_login through the proxy": (key, sent, brought) => askUnstamped(child, loginBody(key, sent), brought),
    "oauth_login of the parent": (key, sent, brought) => askStamped(child, loginBody(key, sent), brought),
    "oauth of the parent": (key, { boundTo, ...sent }, brought) => {
      const targetPublicKey = toHex(nodeCurves.uncompressP256(Buffer.from(key.publicKey, "hex")));
      const oidcToken = token(boundTo ?? targetPublicKey, sent);
      const body = activityBody(rig, "ACTIVITY_TYPE_OAUTH", { oidcToken, targetPublicKey }, { organizationId });
      return askStamped(child, body, brought);
    },
    "an attested stamp": (key, { boundTo = key.publicKey, claims = {}, signedBy }, brought) => {
      const body = activityBody(rig, "ACTIVITY_TYPE_STAMP_LOGIN", { publicKey: key.publicKey }, { organizationId });
      const named = { nonce: nonceFor(boundTo), ...claims };
      const evidence = identityEvidence(key, body, rig.clock.nowMs, named, signedBy);
      return askStamped(child, body, { ...brought, evidence });
    },
  };
  return { proxied, rig, statement, good, ways, child, organizationId, loginBody, token };
}

test("statements that are another's, old, swapped or made up sign nobody in, on any way", (t) => {
  const { rig, statement, good, ways } = createAnn();
  const foreign = createSignerRig();
  const elsewhere = createTestIssuers(openKeyring(foreign.rootKey, 1, foreign.keyring).statementMac, rig.clock);
  const newest = makeIssuerKey("ES256", "newest");
  const spoiled = statement().map((byte, at) => (at === 40 ? byte ^ 1 : byte));
  const lies: [what: string, statements: Uint8Array[], sent?: Token][] = [
    ["none", []],
    ["about another issuer", [statement(evilIssuer)]],
    ["about an issuer with a slash", [statement(`${testIssuer}/`)]],
    ["another issuer's key under the same name", [statement(evilIssuer, [evilKey])], { signedBy: evilKey }],
    ["and the issuer's own beside it", [statement(evilIssuer, [evilKey]), statement()], { signedBy: evilKey }],
    ["of an hour ago", [statement(testIssuer, [testIssuerKey], hourMs)]],
    ["of a day ago", [statement(testIssuer, [testIssuerKey], 24 * hourMs)]],
    ["of the future", [statement(testIssuer, [testIssuerKey], -2 * minuteMs)]],
    [
      "of before the key was retired",
      [statement(testIssuer, [testIssuerKey], 30 * minuteMs), statement(testIssuer, [newest])],
    ],
    ["of after the key was retired", [statement(testIssuer, [newest])]],
    ["of an issuer without keys", [statement(testIssuer, [])]],
    ["two keys under one name", [statement(testIssuer, [testIssuerKey, evilKey])]],
    ["of another deployment", [elsewhere.statement(testIssuer, [testIssuerKey], rig.clock.nowMs)]],
    [
      "of another deployment, beside a good one",
      [statement(), elsewhere.statement(testIssuer, [evilKey], rig.clock.nowMs)],
    ],
    ["with one bit changed", [spoiled]],
    ["no statement", [new Uint8Array(randomBytes(200))]],
  ];
  let refused = 0;
  for (const [way, signIn] of Object.entries(ways)) {
    for (const [what, statements, sent = {}] of lies) {
      assert.notEqual(refusalIn(signIn(newKey(), sent, { ...good(), statements })), undefined, `${way}: ${what}`);
      refused += 1;
    }
    preparedIn(signIn(newKey(), {}, good()));
  }
  t.diagnostic(`${refused} sign-ins on ${lies.length} statements in ${Object.keys(ways).length} ways: 0 decided`);
});

test("a clock that is set back makes no statement young again", () => {
  const { rig, proxied, statement, good, ways } = createAnn();
  const statements = [statement()];
  rig.clock.nowMs += 2 * hourMs;
  for (const [way, signIn] of Object.entries(ways)) {
    assert.notEqual(refusalIn(signIn(newKey(), {}, { ...good(), statements })), undefined, way);
    preparedIn(signIn(newKey(), {}, good()));
  }
  // What is released is the last time that the signer knows.
  change(proxied, "ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG", { otpLength: 6 });
  rig.clock.nowMs -= 2 * hourMs;
  for (const [way, signIn] of Object.entries(ways)) {
    assert.match(refusalIn(signIn(newKey(), {}, { ...good(), statements })) ?? "", /clock is 7200 s behind/, way);
  }
});

test("a token signs in the key that its nonce names, and the identity that it is for, on every way", (t) => {
  const { rig, statement, good, ways } = createAnn();
  const other = newKey().publicKey;
  const ownKey = ownIssuerKey(nodeTokenCrypto, openKeyring(rig.rootKey, 1, rig.keyring).identity.publicKey);
  const now = Math.floor(rig.clock.nowMs / 1_000);
  // The courier would state none of these spellings; that alone must not be what keeps them out.
  const spellings = [`${testIssuer}/`, `${testIssuer}:443`, "http://issuer.example", "https://ISSUER.example"];
  const lies: [what: string, sent: Token, statements?: Uint8Array[]][] = [
    ["no nonce", { claims: { nonce: undefined } }],
    ["an empty nonce", { claims: { nonce: "" } }],
    ["another key's nonce", { boundTo: other }],
    ["another key's nonce twice", { boundTo: other, claims: { tknonce: nonceFor(other) } }],
    ["several nonces", { claims: { nonce: [nonceFor(other)] } }],
    ["another subject", { claims: { sub: "subject-2" } }],
    ["another spelling of the subject", { claims: { sub: "Subject-1" } }],
    ["another application", { claims: { aud: "client-2" } }],
    ["two applications", { claims: { aud: ["client-1", "client-2"] } }],
    ["asked for by another application", { claims: { azp: "client-2" } }],
    ["over", { claims: { exp: now - 60 } }],
    ["of tomorrow", { claims: { nbf: now + 86_400 } }],
    ["another issuer's", { claims: { iss: evilIssuer }, signedBy: evilKey }, [statement(evilIssuer, [evilKey])]],
    ["a stranger's signature", { signedBy: evilKey }],
    ["said to be our own", { claims: { iss: ownIssuerUrl }, signedBy: { ...evilKey, kid: ownKey.kid ?? "" } }],
    ...spellings.map((iss): [string, Token, Uint8Array[]] => [iss, { claims: { iss } }, [statement(iss)]]),
  ];
  let refused = 0;
  for (const [way, signIn] of Object.entries(ways)) {
    for (const [what, sent, statements] of lies) {
      const brought = { ...good(), ...(statements && { statements: [...good().statements, ...statements] }) };
      assert.notEqual(refusalIn(signIn(newKey(), sent, brought)), undefined, `${way}: ${what}`);
      refused += 1;
    }
  }
  for (const aud of ["client-1", ["client-1"]]) {
    for (const signIn of Object.values(ways))
      preparedIn(signIn(newKey(), { claims: { aud, azp: "client-1" } }, good()));
  }
  t.diagnostic(`${refused} sign-ins with tokens that are for something else: 0 decided`);
});

test("an attested stamp is for one body", () => {
  const { rig, proxied, child, good, organizationId } = createAnn();
  const key = newKey();
  const bodyOf = (publicKey: string, overrides: object = { organizationId }) =>
    activityBody(rig, "ACTIVITY_TYPE_STAMP_LOGIN", { publicKey }, { ...overrides });
  const body = bodyOf(key.publicKey);
  const evidence = identityEvidence(key, body, rig.clock.nowMs);
  const other = newKey();
  const bent = (change: (fields: Record<string, string>) => object) => {
    const fields = JSON.parse(Buffer.from(evidence.value, "base64url").toString());
    return { ...evidence, value: Buffer.from(JSON.stringify({ ...fields, ...change(fields) })).toString("base64url") };
  };
  const signedByOther = JSON.parse(
    Buffer.from(identityEvidence(other, body, rig.clock.nowMs).value, "base64url").toString(),
  );
  const lies = [
    [bodyOf(other.publicKey), evidence],
    [bodyOf(key.publicKey), evidence],
    [bodyOf(key.publicKey, {}), evidence],
    [body, bent(() => ({ publicKey: key.publicKey.toUpperCase() }))],
    [body, bent(() => ({ publicKey: other.publicKey, signature: signedByOther.signature }))],
    [body, bent(() => ({ scheme: "STAMP_ATTESTED_SCHEME_P256_OTP" }))],
    [body, bent(({ publicKeyAttestation = "" }) => ({ publicKeyAttestation: publicKeyAttestation.slice(0, -4) }))],
  ] as const;
  for (const [at, [sent, stamp]] of lies.entries()) {
    assert.notEqual(refusalIn(askStamped(child, sent, { ...good(), evidence: stamp })), undefined, `${at}`);
  }
  // It signs in and votes, and does nothing else.
  const tag = activityBody(rig, "ACTIVITY_TYPE_CREATE_USER_TAG", { userTagName: "x", userIds: [] }, { organizationId });
  const stamped = { ...good(), evidence: identityEvidence(key, tag, rig.clock.nowMs) };
  assert.match(refusalIn(askStamped(child, tag, stamped)) ?? "", /an attested stamp signs in and votes/);
  assert.notEqual(refusalIn(askStamped(proxied, body, { ...good(), evidence })), undefined, "in the parent");
  preparedIn(askStamped(child, body, { ...good(), evidence }));
});

test("a login through the proxy is decided on the parent's newest configuration alone", () => {
  const { proxied, child, good, loginBody } = createAnn();
  const login = (others: readonly OfferedState[]) => askUnstamped(child, loginBody(newKey()), { ...good(), others });
  preparedIn(login([beside(proxied.state)]));
  const narrowed = change(proxied, "ACTIVITY_TYPE_UPDATE_AUTH_PROXY_CONFIG", { allowedAuthMethods: ["passkey"] });
  const now = narrowed.state;
  assert.match(refusalIn(login([beside(now)])) ?? "", /^OAUTH disallowed/);
  const lies: OfferedState[][] = [
    [],
    [beside(proxied.state)],
    [beside(proxied.state), beside(now)],
    [{ ...beside(now), pages: proxied.state.pages }],
    [{ ...beside(proxied.state), header: now.header }],
    [beside(child.state)],
  ];
  for (const [at, others] of lies.entries()) assert.notEqual(refusalIn(login(others)), undefined, `${at}`);
});
