import assert from "node:assert/strict";
import { createHmac, createPublicKey, randomBytes } from "node:crypto";
import { test } from "node:test";
import { decodeIssuerKey } from "@keystead/core/log/outside_values.ts";
import { ownIssuerKey } from "@keystead/core/oidc/own_issuer.ts";
import { makeIssuerKey } from "../../../../core/test/oidc/test_issuer.ts";
import { createTestIssuers, testIssuer, testIssuerKey, testToken } from "../../../test/test_issuers.ts";
import { nodeTokenCrypto } from "../../curves/node_token_crypto.ts";
import { unkeptVerdicts } from "../../endpoints/verdict_access.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { openIdentityTokens } from "./identity_tokens.ts";
import { NeedsMore } from "./needs_more.ts";
import { UnrecordedFault } from "./unrecorded_fault.ts";

const nowMs = 1_800_000_000_000;
const hourMs = 3_600_000;
const macUnder = (key: Uint8Array) => (content: Uint8Array) =>
  new Uint8Array(createHmac("sha256", key).update(content).digest());
const statementMac = macUnder(randomBytes(32));
const signer = { keyring: { statementMac } as Keyring, linkingIssuers: new Set<string>(), ownIssuer: undefined };
const issuers = createTestIssuers(statementMac, { nowMs });
const open = (...statements: Uint8Array[]) => openIdentityTokens(signer, { statements }, nowMs, unkeptVerdicts);
const fetched = (agoMs: number, keys = [testIssuerKey], issuer = testIssuer) =>
  issuers.statement(issuer, keys, nowMs - agoMs);
const other = makeIssuerKey("ES256", "other-key");
const token = testToken(nowMs);

/** The wish that a decision ends with. */
function wishOf(decide: () => unknown): unknown {
  try {
    decide();
  } catch (error) {
    if (error instanceof NeedsMore) return error.wishes;
    throw error;
  }
  return undefined;
}

const wish = (newerThanMs: number) => [{ kind: "issuer", value: { issuer: testIssuer, newerThanMs } }];

test("without a statement about its issuer a token is not judged: any of the last hour is asked for", () => {
  assert.deepEqual(
    wishOf(() => open().verify(token)),
    wish(0),
  );
  const ofAnother = issuers.statement("https://other.example", [testIssuerKey], nowMs);
  assert.deepEqual(
    wishOf(() => open(ofAnother).verify(token)),
    wish(0),
  );
});

test("a statement counts for an hour by the signer's clock", () => {
  assert.equal(open(fetched(hourMs - 1)).verify(token).subject, "subject-1");
  assert.deepEqual(
    wishOf(() => open(fetched(hourMs)).verify(token)),
    wish(nowMs - hourMs),
  );
  assert.equal(open(fetched(-60_000)).verify(token).issuer, testIssuer);
  assert.throws(() => open(fetched(-60_001)).verify(token), { code: "unavailable", message: /clock is ahead/ });
});

test("of several statements about one issuer the newest counts, so an older one brings no key back", () => {
  const rotated = fetched(90_000, [other]);
  assert.deepEqual(
    wishOf(() => open(fetched(1_800_000), rotated).verify(token)),
    wish(nowMs - 90_000),
  );
  assert.deepEqual(
    wishOf(() => open(rotated, fetched(1_800_000)).verify(token)),
    wish(nowMs - 90_000),
  );
});

test("for an unknown key a newer statement is asked for; where that lacks it too, the token is refused and not recorded", () => {
  assert.deepEqual(
    wishOf(() => open(fetched(60_000, [other])).verify(token)),
    wish(nowMs - 60_000),
  );
  for (const statements of [[fetched(59_999, [other])], [fetched(600_000, [other]), fetched(0, [other])]]) {
    assert.throws(
      () => open(...statements).verify(token),
      (error) =>
        error instanceof UnrecordedFault && /its key is not one that its issuer publishes now/.test(error.message),
    );
  }
});

test("what no courier of this deployment has said is believed by nobody", () => {
  const forged = createTestIssuers(macUnder(randomBytes(32)), { nowMs }).statement(testIssuer, [other], nowMs);
  for (const statement of [forged, new Uint8Array(), fetched(0).subarray(1)]) {
    assert.throws(() => open(statement).verify(token), {
      code: "unavailable",
      message: /not come from this deployment/,
    });
    // Nor does a good one beside it help.
    assert.throws(() => open(fetched(0), statement).verify(token), { code: "unavailable" });
  }
});

test("the leaf names each key that a token was held against once, also where it was refused", () => {
  const identities = open(fetched(5_000, [other, testIssuerKey]));
  identities.verify(token);
  identities.verify(testToken(nowMs, { sub: "another" }));
  const forged = testToken(nowMs, {}, undefined, { ...testIssuerKey, kid: other.kid });
  assert.throws(() => identities.verify(forged), { errorCode: "INVALID_OIDC_TOKEN" });
  const taken = identities.taken.map(({ value }) => decodeIssuerKey(value.value));
  assert.deepEqual(
    taken.map(({ issuer, fetchedAtMs, key }) => [issuer, fetchedAtMs, JSON.parse(key).kid]),
    [testIssuerKey, other].map(({ kid }) => [testIssuer, nowMs - 5_000, kid]),
  );
});

test("a token that is over or malformed asks for nothing", () => {
  for (const bad of ["", "a.b.c", testToken(nowMs - 2 * hourMs)]) {
    assert.throws(() => open().verify(bad), { errorCode: "INVALID_OIDC_TOKEN" });
  }
});

test("our own tokens are verified with our own key, without a statement, and nobody else's word counts for them", () => {
  const ownIssuer = "https://keystead.example";
  const own = makeIssuerKey("ES256", "own");
  const { x = "", y = "" } = createPublicKey(own.privateKey).export({ format: "jwk" });
  const publicKey = Buffer.concat([Buffer.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
  const keyring = { statementMac, identity: { publicKey: new Uint8Array(publicKey) } } as Keyring;
  const { kid } = ownIssuerKey(nodeTokenCrypto, keyring.identity.publicKey);
  assert.match(String(kid), /^[0-9a-f]{16}$/);
  const claims = { iss: ownIssuer };
  const made = testToken(nowMs, claims, undefined, { ...own, kid: String(kid) });
  const forged = testToken(nowMs, claims);
  const brought = [fetched(0, [testIssuerKey], ownIssuer)];
  const identities = openIdentityTokens(
    { ...signer, keyring, ownIssuer },
    { statements: brought },
    nowMs,
    unkeptVerdicts,
  );
  assert.equal(identities.verify(made).issuer, ownIssuer);
  assert.deepEqual(identities.taken, []);
  assert.throws(() => identities.verify(forged), { errorCode: "INVALID_OIDC_TOKEN" });
});

test("tokens under more keys than a leaf has place for are refused", () => {
  const keys = Array.from({ length: 17 }, (_, index) => ({
    ...testIssuerKey,
    kid: `k${index}`,
    jwk: { ...testIssuerKey.jwk, kid: `k${index}` },
  }));
  const identities = open(fetched(0, keys));
  for (const key of keys.slice(0, 16)) identities.verify(testToken(nowMs, {}, undefined, key));
  const last = keys[16];
  assert.ok(last);
  assert.throws(() => identities.verify(testToken(nowMs, {}, undefined, last)), {
    code: "invalid_argument",
    message: /16 keys/,
  });
});
