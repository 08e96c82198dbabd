/** What shows who is behind an act that no registered key has stamped. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeVerifierCurves } from "../../../../server/src/curves/node_verifier_curves.ts";
import { freshClaims, issueToken, makeIssuerKey, nonceFor, publishedKeys } from "../../../test/oidc/test_issuer.ts";
import { p256Key, signerOf, signMessage, tokenBase } from "../../../test/otp/bases.ts";
import { seededRandom } from "../../../test/seeded_random.ts";
import { fromHex } from "../../encoding/hex.ts";
import { uuidToBytes } from "../../encoding/uuid.ts";
import { Fault } from "../../fault.ts";
import { readPublishedKeys } from "../../oidc/key_set.ts";
import { makeVerificationToken } from "../../otp/verification_token.ts";
import type { Leaf } from "../leaf.ts";
import { encodeIssuerKey, encodeMemoryVerdict } from "../outside_values.ts";
import { checkStampIdentity, checkStampToken, checkUnstamped, type EvidenceVerdict } from "./check_token.ts";

const random = seededRandom(7);
const otp = p256Key(random);
const timeMs = 1_790_000_000_000;
const utf8 = (text: string) => new TextEncoder().encode(text);
const good = { good: true };

/** As the caller of these checks has it: a part that cannot be read is bad. */
function judged(check: () => EvidenceVerdict): EvidenceVerdict {
  try {
    return check();
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return { bad: error.message };
    throw error;
  }
}

test("a verification token vouches for the key and the id that the leaf has, until it ends", () => {
  const { claims, token, holder } = tokenBase(random, otp, true);
  const own = { publicKey: fromHex(holder.publicKey), tokenId: uuidToBytes(claims.tokenId) };
  const check = (content = own, text = token, at = timeMs) =>
    judged(() => checkStampToken(content, utf8(text), { timeMs: at, outside: [] }));
  assert.deepEqual(check(), good);
  assert.deepEqual(check(own, token, claims.expiresAtMs), { bad: "the verification token had expired" });
  const otherKey = { ...own, publicKey: fromHex(p256Key(random).publicKey) };
  assert.deepEqual(check(otherKey), { bad: "the verification token is bound to another key" });
  const otherId = { ...own, tokenId: new Uint8Array(16) };
  assert.deepEqual(check(otherId), { bad: "the verification token is another one" });
  const unbound = makeVerificationToken(signerOf(otp), { ...claims, publicKey: undefined });
  assert.deepEqual(check(own, unbound), { bad: "the verification token is bound to another key" });
  assert.ok("bad" in check(own, "no token"));
});

const issuer = "https://issuer.example.com";
const issuerKey = makeIssuerKey("ES256", "one");

function keyValue(key = issuerKey, of = issuer): Leaf["outside"][number] {
  const [{ jwk } = { jwk: {} }] = readPublishedKeys(utf8(publishedKeys([key])));
  const value = encodeIssuerKey({ issuer: of, fetchedAtMs: timeMs, key: JSON.stringify(jwk) });
  return { kind: "issuerKey", value: { kind: "bytes", value } };
}

test("an identity token is held against the issuer's key in the leaf, its time, and the key that its nonce names", () => {
  const { publicKey, longPublicKey } = p256Key(random);
  const tokenFor = (key: string, more: object = {}) =>
    issueToken(issuerKey, freshClaims(timeMs, { iss: issuer, nonce: nonceFor(key), ...more }));
  const check = (token: string, outside = [keyValue()], at = timeMs) =>
    judged(() => checkStampIdentity(nodeVerifierCurves, fromHex(publicKey), utf8(token), { timeMs: at, outside }));
  for (const text of [publicKey, publicKey.toUpperCase(), longPublicKey, longPublicKey.toUpperCase()]) {
    assert.deepEqual(check(tokenFor(text)), good);
  }
  const token = tokenFor(publicKey);
  // The same key, fetched twice.
  assert.deepEqual(check(token, [keyValue(), keyValue()]), good);
  assert.ok("bad" in check(token, [keyValue(makeIssuerKey("ES256", "one"))]), "another key of that name");
  assert.ok("bad" in check(token, [keyValue()], timeMs + 48 * 3_600_000), "it has expired");
  assert.ok("unchecked" in check(tokenFor(p256Key(random).publicKey)), "never right for another key");
  const unknown = { unchecked: "no key of the issuer of its identity token is in the leaf" };
  assert.deepEqual(check(token, []), unknown);
  assert.deepEqual(check(token, [keyValue(issuerKey, "https://other.example.com")]), unknown);
  const verdict = encodeMemoryVerdict({ subject: "ownToken", isAllowed: true, times: [], ids: [] });
  assert.deepEqual(check(token, [{ kind: "memoryVerdict", value: { kind: "bytes", value: verdict } }]), good);
});

const completed = { event: "COMPLETED", timeMs, outside: [] } as const;

function unstamped(parameters: object, leaf: Partial<Leaf> = {}): EvidenceVerdict {
  const body = utf8(JSON.stringify({ type: "T", parameters }));
  const activityType = "ACTIVITY_TYPE_OTP_LOGIN_V2";
  return judged(() => checkUnstamped(nodeVerifierCurves, { ...completed, activityType, ...leaf }, body));
}

test("a sign-in without a stamp is signed for by the key of its token", () => {
  const { claims, token, holder } = tokenBase(random, otp, true);
  const { publicKey } = p256Key(random);
  const message = { login: { publicKey }, tokenId: claims.tokenId, type: "USAGE_TYPE_LOGIN" };
  const clientSignature = signMessage(holder, JSON.stringify(message));
  const login = { verificationToken: token, publicKey, clientSignature };
  assert.deepEqual(unstamped(login), good);
  assert.ok("bad" in unstamped({ ...login, publicKey: holder.publicKey }), "another session's key");
  assert.ok("bad" in unstamped({ ...login, clientSignature: { ...clientSignature, message: "{}" } }));
  const unsigned = { verificationToken: token, publicKey };
  assert.deepEqual(unstamped(unsigned), { bad: "nobody has signed for the use of the verification token" });
  assert.deepEqual(unstamped(unsigned, { event: "FAILED" }), good, "what was refused claims nothing");
  assert.deepEqual(unstamped(login, { timeMs: claims.expiresAtMs }), { bad: "the verification token had expired" });
  assert.deepEqual(unstamped({ otpType: "OTP_TYPE_EMAIL", contact: "a@example.com" }), good, "it proves nothing");
});

test("a sign-up without a stamp is signed for with all its credentials, and its identities are their issuers'", () => {
  const { claims, token, holder } = tokenBase(random, otp, true);
  const oidcToken = issueToken(issuerKey, freshClaims(timeMs, { iss: issuer }));
  const user = {
    apiKeys: [{ apiKeyName: "k", publicKey: holder.publicKey, curveType: "API_KEY_CURVE_P256" }],
    authenticators: [],
    oauthProviders: [{ providerName: "p", oidcToken }],
    userEmail: "user@example.com",
  };
  const { userEmail: email, ...signed } = user;
  const message = { signupV2: { ...signed, email }, tokenId: claims.tokenId, type: "USAGE_TYPE_SIGNUP" };
  const clientSignature = signMessage(holder, JSON.stringify(message));
  const signUp = (rootUser: object) => ({ rootUsers: [rootUser], verificationToken: token, clientSignature });
  const born = { event: "BIRTH", activityType: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V8" } as const;
  assert.deepEqual(unstamped(signUp(user), { ...born, outside: [keyValue()] }), good);
  const others = signUp({ ...user, authenticators: [{ authenticatorName: "mine" }] });
  assert.ok("bad" in unstamped(others, { ...born, outside: [keyValue()] }));
  const forged = keyValue(makeIssuerKey("ES256", "one"));
  assert.ok("bad" in unstamped(signUp(user), { ...born, outside: [forged] }));
});

test("a sign-in by an identity token is for the key that the token names", () => {
  const { publicKey } = p256Key(random);
  const oidcToken = issueToken(issuerKey, freshClaims(timeMs, { iss: issuer, nonce: nonceFor(publicKey) }));
  const outside = [keyValue()];
  assert.deepEqual(unstamped({ oidcToken, publicKey }, { outside }), good);
  assert.ok("bad" in unstamped({ oidcToken, publicKey: p256Key(random).publicKey }, { outside }));
});
