import assert from "node:assert/strict";
import { test } from "node:test";
import { createLocalJWKSet, jwtVerify } from "jose";
import { nodeTokenCrypto } from "../../../server/src/curves/node_token_crypto.ts";
import {
  freshClaims,
  issueToken,
  makeIssuerKey,
  nonceFor,
  publishedKeys,
  signCompact,
  type TestClaims,
} from "../../test/oidc/test_issuer.ts";
import { toBase64url } from "../encoding/base64url.ts";
import { checkIdentityToken, checkNonce, parseIdentityToken, verifyWithKeys } from "./identity_token.ts";
import { readPublishedKeys } from "./key_set.ts";
import { type TokenAlgorithm, tokenAlgorithms } from "./token_algorithms.ts";

const nowMs = 1_800_000_000_000;
const now = nowMs / 1000;
const algorithms = Object.keys(tokenAlgorithms) as TokenAlgorithm[];
const keys = Object.fromEntries(algorithms.map((name) => [name, makeIssuerKey(name, `key-${name}`)])) as Record<
  TokenAlgorithm,
  ReturnType<typeof makeIssuerKey>
>;
const published = publishedKeys(Object.values(keys));
const read = readPublishedKeys(new TextEncoder().encode(published));
const key = keys.RS256;

const refusal = (why: string) => ({
  code: "invalid_argument",
  errorCode: "INVALID_OIDC_TOKEN",
  message: `invalid OIDC token: ${why}`,
});

function verify(token: string, issuerKeys = read) {
  const sent = parseIdentityToken(token);
  const verdict = verifyWithKeys(nodeTokenCrypto, sent, issuerKeys);
  checkIdentityToken(sent, nowMs);
  return { ...sent.claims, verdict: verdict.kind };
}

for (const algorithm of algorithms) {
  test(`a token under ${algorithm} is its issuer's word, as a second library reads it too`, async () => {
    const token = issueToken(keys[algorithm], freshClaims(nowMs, { nonce: "n" }));
    const { verdict, issuer, subject, audience, expiresAtMs, nonces } = verify(token);
    assert.deepEqual(
      { verdict, issuer, subject, audience, expiresAtMs, nonces },
      {
        ...{ verdict: "verified", issuer: "https://issuer.example", subject: "subject-1", audience: "client-1" },
        ...{ expiresAtMs: nowMs + 3_600_000, nonces: ["n"] },
      },
    );
    const second = await jwtVerify(token, createLocalJWKSet(JSON.parse(published)), { currentDate: new Date(nowMs) });
    assert.equal(second.payload.sub, "subject-1");
  });

  test(`a key for ${algorithm} verifies no other algorithm, although the token asks for it`, () => {
    for (const other of algorithms.filter((name) => name !== algorithm)) {
      const token = issueToken(keys[algorithm], freshClaims(nowMs), { alg: other });
      assert.throws(() => verify(token), refusal("its `alg` is not the one of its issuer's key"), other);
    }
  });
}

test("a token may come as base64 of its compact form, in either alphabet, padded or not", () => {
  const token = issueToken(key, freshClaims(nowMs));
  const buffer = Buffer.from(token);
  for (const spelled of [buffer.toString("base64"), buffer.toString("base64url"), toBase64url(buffer)]) {
    assert.equal(verify(spelled).verdict, "verified");
  }
  for (const bad of ["", "e", "not base64!", toBase64url(Uint8Array.of(0xff, 0xfe)), "e".repeat(40_000)]) {
    assert.throws(() => verify(bad), { errorCode: "INVALID_OIDC_TOKEN" });
  }
});

test("no algorithm, a shared secret, and what would bring a key along are refused", () => {
  const claims = freshClaims(nowMs);
  for (const alg of [
    "none",
    "None",
    "NONE",
    "nOnE",
    "HS256",
    "HS384",
    "HS512",
    "ES384",
    "PS384",
    "ES256K",
    "",
    1,
    null,
  ]) {
    assert.throws(() => verify(issueToken(key, claims, { alg })), { errorCode: "INVALID_OIDC_TOKEN" }, `${alg}`);
  }
  const values = {
    jwk: key.jwk,
    jku: "https://a.b",
    x5u: "https://a.b",
    x5c: [],
    crit: ["exp"],
    b64: false,
    zip: "DEF",
  };
  for (const [name, value] of Object.entries({ ...values, cty: "JWT" })) {
    assert.throws(() => verify(issueToken(key, claims, { [name]: value })), refusal(`its header has \`${name}\``));
  }
  const [header = "", payload = ""] = issueToken(key, claims).split(".");
  for (const bare of [`${header}.${payload}.`, `${header}.${payload}`, `.${payload}.AA`]) {
    assert.throws(() => verify(bare), { errorCode: "INVALID_OIDC_TOKEN" });
  }
});

test("an HMAC with the published key as its secret is no signature", async () => {
  const { createHmac } = await import("node:crypto");
  const parts = [{ alg: "HS256", kid: key.kid, typ: "JWT" }, freshClaims(nowMs)];
  const signed = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  for (const secret of [published, JSON.stringify(key.jwk), String(key.jwk.n)]) {
    const token = `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
    assert.throws(() => verify(token), refusal("its `alg` is not the one of its issuer's key"));
  }
});

test("an RSA signature has all its bytes, also where the first is zero", () => {
  for (const algorithm of ["RS256", "PS256"] as const) {
    const isShortened = (index: number): boolean => {
      const [header, payload, signature = ""] = issueToken(keys[algorithm], freshClaims(nowMs, { jti: index })).split(
        ".",
      );
      const bytes = Buffer.from(signature, "base64url");
      if (bytes[0] !== 0) return false;
      const shortened = `${header}.${payload}.${toBase64url(bytes.subarray(1))}`;
      assert.throws(() => verify(shortened), refusal("its signature is not its issuer's"));
      return true;
    };
    // One in 256 begins with a zero.
    for (let index = 0; !isShortened(index); index++) assert.ok(index < 10_000);
  }
});

test("a key that the set does not have makes the token unknown, and one that has two names nothing", () => {
  const stranger = makeIssuerKey("ES256", "key-new");
  assert.equal(verify(issueToken(stranger, freshClaims(nowMs))).verdict, "unknown");
  assert.equal(
    verify(issueToken(stranger, freshClaims(nowMs), { kid: undefined }), read.slice(0, 0)).verdict,
    "unknown",
  );
  const forged = issueToken({ ...stranger, kid: keys.ES256.kid }, freshClaims(nowMs));
  assert.throws(() => verify(forged), refusal("its signature is not its issuer's"));
  const token = issueToken(keys.ES256, freshClaims(nowMs));
  const own = read.filter(({ algorithm }) => algorithm === "ES256");
  assert.throws(() => verify(token, [...own, ...own]), refusal("it names no single key"));
});

test("a token without a key's name is for a set of one key", () => {
  const nameless = issueToken(keys.ES256, freshClaims(nowMs), { kid: undefined });
  const own = read.filter(({ algorithm }) => algorithm === "ES256");
  assert.equal(verify(nameless, own).verdict, "verified");
  assert.throws(() => verify(nameless), refusal("it names no single key"));
  // The set may be from before the key was replaced.
  const other = readPublishedKeys(new TextEncoder().encode(publishedKeys([makeIssuerKey("ES256", "x")])));
  assert.equal(verify(nameless, other).verdict, "unknown");
});

test("other kinds of tokens that the issuer signs are no identity tokens", () => {
  for (const typ of ["at+jwt", "logout+jwt", "application/at+jwt", "", "JWS"]) {
    assert.throws(() => verify(issueToken(key, freshClaims(nowMs), { typ })), refusal("its `typ` is not `JWT`"), typ);
  }
  for (const typ of ["JWT", "jwt", undefined]) {
    assert.equal(verify(issueToken(key, freshClaims(nowMs), { typ })).verdict, "verified");
  }
  assert.throws(() => verify(issueToken(key, freshClaims(nowMs), { typ: 1 })), refusal("its `typ` is no text"));
});

const badClaims: [why: string, changes: TestClaims][] = [
  ["`iss` is missing", { iss: undefined }],
  ["`iss` is missing", { iss: "" }],
  ["`iss` is no text", { iss: 1 }],
  ["`iss` is too long", { iss: `https://${"a".repeat(505)}` }],
  ["`sub` is missing", { sub: undefined }],
  ["`sub` is missing", { sub: "" }],
  ["`sub` is too long", { sub: "s".repeat(256) }],
  ["`aud` is missing", { aud: undefined }],
  ["`aud` must have exactly one element", { aud: [] }],
  ["`aud` must have exactly one element", { aud: ["client-1", "client-2"] }],
  ["`aud` is no text", { aud: [1] }],
  ["`aud` is no text", { aud: { 0: "client-1", length: 1 } }],
  ["`azp` is not its audience", { azp: "client-2" }],
  ["`azp` is not its audience", { azp: null }],
  ["`exp` is missing", { exp: undefined }],
  ["`exp` is no time", { exp: String(now + 3600) }],
  ["`exp` is no time", { exp: -1 }],
  ["`exp` is no time", { exp: 1e15 }],
  ["`exp` is no time", { exp: null }],
  ["`nbf` is no time", { nbf: "0" }],
  ["`iat` is no time", { iat: [] }],
  ["`nonce` is no text", { nonce: ["n"] }],
  ["it has expired", { exp: now - 60 }],
  ["it is not valid yet", { nbf: now + 61 }],
  ["it was issued in the future", { iat: now + 61 }],
  ["it was issued too long ago", { iat: now - 86_460 }],
];

for (const [why, changes] of badClaims) {
  test(`refused: ${why} (${JSON.stringify(changes).slice(0, 60)})`, () => {
    assert.throws(() => verify(issueToken(key, freshClaims(nowMs, changes))), refusal(why));
  });
}

test("clocks may differ by a minute, and what is optional may be missing", () => {
  for (const changes of [
    ...[{ exp: now - 59 }, { nbf: now + 60 }, { iat: now + 60 }, { iat: now - 86_459 }, { iat: undefined }],
    ...[{ aud: ["client-1"] }, { azp: "client-1" }, { exp: now + 0.5 }, { hd: { deep: [1] } }],
  ]) {
    assert.equal(verify(issueToken(key, freshClaims(nowMs, changes))).verdict, "verified", JSON.stringify(changes));
  }
});

test("claims that mean different things to different readers are refused", () => {
  const header = JSON.stringify({ alg: "RS256", kid: key.kid });
  const claims = JSON.stringify(freshClaims(nowMs));
  for (const payload of [
    ...[
      claims.replace("{", '{"sub":"other",'),
      claims.replace('"sub"', '"s\\u0075b"'),
      `\ufeff${claims}`,
      `[${claims}]`,
    ],
    ...["", "null", '"text"', claims.slice(1), `${claims} ${claims}`, claims.replace("{", '{"__proto__":{},')],
  ]) {
    assert.throws(() => verify(signCompact(key, header, payload)), { errorCode: "INVALID_OIDC_TOKEN" }, payload);
  }
  for (const bad of [`{"kid":"x",${header.slice(1)}`, `[${header}]`, "", header.slice(1)]) {
    assert.throws(() => verify(signCompact(key, bad, claims)), { errorCode: "INVALID_OIDC_TOKEN" }, bad);
  }
});

test("a nonce is the hash of the key's text as it was sent, in either claim", () => {
  // The published vector: reference client's nonce for this key.
  const publicKey = "0394e549c71fa99dd5cf752fba623090be314949b74e4cdf7ca72031dd638e281a";
  const nonce = "1663bba492a323085b13895634a3618792c4ec6896f3c34ef3c26396df22ef82";
  assert.equal(nonceFor(publicKey), nonce);
  const check = (claims: TestClaims, text = publicKey) =>
    checkNonce(nodeTokenCrypto, parseIdentityToken(issueToken(key, freshClaims(nowMs, claims))).claims, text);
  check({ nonce });
  check({ tknonce: nonce });
  check({ nonce: "of the application's own", tknonce: nonce });
  const wrong = refusal("its nonce is not the hash of the public key");
  for (const claims of [{}, { nonce: "" }, { nonce: publicKey }, { nonce: nonce.toUpperCase() }, { email: nonce }]) {
    assert.throws(() => check(claims), wrong, JSON.stringify(claims));
  }
  assert.throws(() => check({ nonce }, publicKey.toUpperCase()), wrong);
});

test("an e-mail address counts as verified if the issuer says so", () => {
  const emailOf = (claims: TestClaims) => verify(issueToken(key, freshClaims(nowMs, claims))).verifiedEmail;
  assert.equal(emailOf({ email: "a@b.c", email_verified: true }), "a@b.c");
  assert.equal(emailOf({ email: "a@b.c", email_verified: "true" }), "a@b.c");
  for (const claims of [
    { email: "a@b.c" },
    { email: "a@b.c", email_verified: false },
    { email: "a@b.c", email_verified: 1 },
  ]) {
    assert.equal(emailOf(claims), undefined);
  }
});
