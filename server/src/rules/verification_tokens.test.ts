import assert from "node:assert/strict";
import { test } from "node:test";
import type { TokenClaims } from "@keystead/core/otp/verification_token.ts";
import { nowMs } from "../../test/activity_context.ts";
import { organization, person } from "../../test/members.ts";
import { applyChanges } from "../state/apply_changes.ts";
import { emptyPages, type Pages } from "../state/pages.ts";
import { maxUsedTokens, usedUpToken, userOfToken } from "./verification_tokens.ts";

const claims = (n: number, changes: Partial<TokenClaims> = {}): TokenClaims => ({
  tokenId: `token ${n}`,
  expiresAtMs: nowMs + 1_000,
  organizationId: "acme",
  verificationType: "OTP_TYPE_EMAIL",
  contact: "ann@example.com",
  publicKey: undefined,
  ...changes,
});

const after = (pages: Pages, token: TokenClaims, atMs = nowMs): Pages =>
  applyChanges(pages, usedUpToken(pages.usedTokens, token, atMs)).pages;

test("an unbound token is used up by one login, and a bound one never", () => {
  const bound = claims(1, { publicKey: "02" });
  assert.deepEqual(usedUpToken(emptyPages.usedTokens, bound, nowMs), []);
  const used = after(emptyPages, claims(1));
  assert.throws(() => usedUpToken(used.usedTokens, claims(1), nowMs), {
    code: "invalid_argument",
    message: /^invalid verification token: it has made its login/,
  });
  assert.equal(after(used, claims(2)).usedTokens.size, 2);
});

test("a used token is known until no clock that may be believed takes it for a live one", () => {
  const used = after(emptyPages, claims(1));
  const toleranceMs = 300_000;
  assert.ok(after(used, claims(2, { expiresAtMs: nowMs + 9e5 }), nowMs + 999 + toleranceMs).usedTokens.has("token 1"));
  const later = after(used, claims(3, { expiresAtMs: nowMs + 9e5 }), nowMs + 1_000 + toleranceMs);
  assert.deepEqual([...later.usedTokens.keys()], ["token 3"]);
});

test("where no place is left, a login is refused; nothing is forgotten early for it", () => {
  let pages: Pages = emptyPages;
  for (let n = 0; n < maxUsedTokens; n++) pages = after(pages, claims(n));
  assert.throws(() => usedUpToken(pages.usedTokens, claims(maxUsedTokens), nowMs), {
    code: "resource_exhausted",
    message: /limit of 1000 used verification tokens/,
  });
  assert.equal(after(pages, claims(maxUsedTokens), nowMs + 400_000).usedTokens.size, 1);
});

test("a token speaks for the one user who has its contact, verified before written down", () => {
  const ann = person("ann", { userEmail: "Ann@Example.com" });
  const eve = person("eve", { userEmail: "ann@example.com" });
  const bob = person("bob", { userPhoneNumber: "+15551234567" });
  const membersOf = (...users: Parameters<typeof person>[1][]) =>
    organization({ users: [bob, ...users] as never }).members;
  const among = (...users: (typeof ann)[]) => userOfToken(membersOf(...users), claims(1), {}).userId;
  assert.equal(among(ann), "ann");
  assert.throws(() => among(), { code: "unauthenticated", errorCode: "CREDENTIAL_NOT_FOUND" });
  assert.throws(() => among(ann, eve), { code: "unauthenticated", errorCode: "CREDENTIAL_CONFLICT" });
  assert.equal(among({ ...ann, emailVerified: true }, eve), "ann");
  assert.throws(() => among({ ...ann, emailVerified: true }, { ...eve, emailVerified: true }), {
    errorCode: "CREDENTIAL_CONFLICT",
  });
  const sms = claims(1, { verificationType: "OTP_TYPE_SMS", contact: "+15551234567" });
  assert.equal(userOfToken(membersOf(ann), sms, {}).userId, "bob");
  assert.throws(() => userOfToken(membersOf(ann), sms, { isByAuthProxy: true }), { errorCode: "CREDENTIAL_NOT_FOUND" });
});
