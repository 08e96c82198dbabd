/**
 * Spoiled identity tokens and statements: none is accepted, and every refusal is one of our own. A second library that reads the same tokens
 * never refuses what we accept; what it accepts and we do not is listed here.
 */
import assert from "node:assert/strict";
import { createHmac, randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { createLocalJWKSet, jwtVerify } from "jose";
import { nodeTokenCrypto } from "../../../server/src/curves/node_token_crypto.ts";
import { statementSpoils, type TokenBase, tokenSpoils } from "../../test/oidc/mutants.ts";
import { freshClaims, issueToken, makeIssuerKey, publishedKeys } from "../../test/oidc/test_issuer.ts";
import { samples } from "../../test/samples.ts";
import { type Random, seededRandom } from "../../test/seeded_random.ts";
import { Fault } from "../fault.ts";
import { checkIdentityToken, parseIdentityToken, verifyWithKeys } from "./identity_token.ts";
import { makeStatement, openStatement } from "./issuer_statement.ts";
import { readPublishedKeys, writeKeySet } from "./key_set.ts";
import { type TokenAlgorithm, tokenAlgorithms } from "./token_algorithms.ts";

const seed = 23;
const nowMs = 1_800_000_000_000;
const keys = (Object.keys(tokenAlgorithms) as TokenAlgorithm[]).map((name) => makeIssuerKey(name, `key-${name}`));
const strangers = Object.fromEntries(keys.map(({ algorithm }) => [algorithm, makeIssuerKey(algorithm, "stranger")]));
const published = publishedKeys(keys);
const issuerKeys = readPublishedKeys(new TextEncoder().encode(published));

/**
 * The second library reads JSON as JavaScript does, passes over spaces in base64url, takes any `typ`, leaves claims to its caller, and takes
 * a PSS signature without its leading zeros.
 */
const strictness = new Set([
  "a signature of another length",
  ...[
    "a claim twice, well signed",
    "a member of the header twice, well signed",
    "a claim of the wrong kind, well signed",
  ],
  ...["a character", "a character more", "a header that is refused, well signed", "the issuer's key brought along"],
]);

function isAccepted(token: string): boolean {
  try {
    const sent = parseIdentityToken(token);
    const verdict = verifyWithKeys(nodeTokenCrypto, sent, issuerKeys);
    checkIdentityToken(sent, nowMs);
    return verdict.kind === "verified";
  } catch (error) {
    if (error instanceof Fault && error.errorCode === "INVALID_OIDC_TOKEN") return false;
    throw error;
  }
}

const secondKeys = createLocalJWKSet(JSON.parse(published));

async function isAcceptedBySecond(token: string): Promise<boolean> {
  return jwtVerify(token, secondKeys, { currentDate: new Date(nowMs) }).then(
    () => true,
    () => false,
  );
}

function tokenBases(random: Random): TokenBase[] {
  return Array.from({ length: 30 }, (_, index) => {
    const key = keys[index % keys.length] as (typeof keys)[number];
    const claims = freshClaims(nowMs, { sub: `subject-${random.below(1e9)}`, nonce: String(random.below(1e9)) });
    return { key, claims, token: issueToken(key, claims) };
  });
}

test("no spoiled identity token is accepted", async (t: TestContext) => {
  const random = seededRandom(seed);
  const bases = tokenBases(random);
  for (const { token } of bases) assert.ok(isAccepted(token) && (await isAcceptedBySecond(token)));
  const names = Object.keys(tokenSpoils);
  let bySecond = 0;
  for (let i = 0; i < samples.oidcMutants; i++) {
    const name = names[i % names.length] as string;
    const base = random.pick(bases);
    const stranger = strangers[base.key.algorithm];
    assert.ok(stranger);
    const token = tokenSpoils[name]?.(base, random, bases, stranger) ?? "";
    assert.ok(!isAccepted(token), `${name}, the ${i}th of seed ${seed}: ${token}`);
    if (!(await isAcceptedBySecond(token))) continue;
    bySecond++;
    assert.ok(strictness.has(name), `${name} is accepted by the second library: ${token}`);
  }
  t.diagnostic(
    `${samples.oidcMutants} spoiled tokens in ${names.length} ways: 0 accepted; the second library accepts ${bySecond}`,
  );
});

test("no spoiled statement is believed", (t: TestContext) => {
  const random = seededRandom(seed + 1);
  const key = randomBytes(32);
  const mac = (content: Uint8Array) => new Uint8Array(createHmac("sha256", key).update(content).digest());
  const statements = Array.from({ length: 20 }, (_, index) =>
    makeStatement(mac, {
      issuer: `https://issuer-${index % 4}.example`,
      keys: writeKeySet(issuerKeys.slice(index % 5)),
      fetchedAtMs: nowMs + index,
    }),
  );
  const names = Object.keys(statementSpoils);
  for (let i = 0; i < samples.oidcMutants; i++) {
    const name = names[i % names.length] as string;
    const bytes = statementSpoils[name]?.(random.pick(statements), random, statements) ?? new Uint8Array();
    assert.throws(() => openStatement(mac, bytes), { code: "invalid_argument" }, `${name}, the ${i}th of seed ${seed}`);
  }
  t.diagnostic(`${samples.oidcMutants} spoiled statements in ${names.length} ways: 0 believed`);
});
