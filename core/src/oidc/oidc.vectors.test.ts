/** Published cases of signed tokens and keys. `valid` is right for the algorithms that we verify; all others are refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeTokenCrypto } from "../../../server/src/curves/node_token_crypto.ts";
import { findVectors } from "../../test/vectors.ts";
import { Fault } from "../fault.ts";
import { parseCompactJws } from "./compact_jws.ts";
import { isSignedBy, verifyWithKeys } from "./identity_token.ts";
import { readPublishedKeys } from "./key_set.ts";
import { isTokenAlgorithm } from "./token_algorithms.ts";

type Jwk = Record<string, unknown>;
type Case = { tcId: number; comment: string; jws: string; result: "valid" | "invalid" };
type JwsFile = { testGroups: { public?: Jwk; private: Jwk; tests: Case[] }[] };
type JwkFile = { testGroups: { public?: { keys: Jwk[] }; private: { keys: Jwk[] }; tests: Case[] }[] };

/** Whether a signed text verifies with what an issuer would have published. Its payload need not be claims. */
function isVerified(token: unknown, keys: readonly Jwk[]): boolean {
  const read = readPublishedKeys(new TextEncoder().encode(JSON.stringify({ keys })));
  try {
    const jws = parseCompactJws(typeof token === "string" ? token : JSON.stringify(token));
    const verdict = verifyWithKeys(nodeTokenCrypto, { jws }, read);
    return verdict.kind === "verified" && isSignedBy(nodeTokenCrypto, verdict.key, jws);
  } catch (error) {
    if (error instanceof Fault && error.errorCode === "INVALID_OIDC_TOKEN") return false;
    throw error;
  }
}

/** The algorithm in the token's header; undefined where it cannot be read. */
function headerAlgorithm(jws: unknown): unknown {
  try {
    return JSON.parse(Buffer.from(String(jws).split(".")[0] ?? "", "base64url").toString()).alg;
  } catch {
    return undefined;
  }
}

/** An issuer publishes keys without their private members. */
function publicPart({ d, p, q, dp, dq, qi, ...rest }: Jwk): Jwk {
  return rest;
}

test("every verdict of json_web_signature_test.json is right", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const counts = { valid: 0, invalid: 0, ofOthers: 0 };
  for (const group of vectors.json<JwsFile>("wycheproof/json_web_signature_test.json").testGroups) {
    const key = group.public ?? group.private;
    for (const { tcId, comment, jws, result } of group.tests) {
      // Valid under HMAC, PS384, PS512 and ES512, which we do not verify; and two whose key is for another algorithm than the token's.
      const isOurs = isTokenAlgorithm(headerAlgorithm(jws)) && headerAlgorithm(jws) === key.alg;
      const expected = result === "valid" && isOurs;
      assert.equal(isVerified(jws, [key]), expected, `tcId ${tcId}: ${comment}`);
      counts[result === "invalid" ? "invalid" : expected ? "valid" : "ofOthers"]++;
    }
  }
  assert.deepEqual(counts, { valid: 14, invalid: 238, ofOthers: 16 });
});

test("every verdict of json_web_key_test.json is right", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  const counts = { valid: 0, invalid: 0, ofOthers: 0 };
  for (const group of vectors.json<JwkFile>("wycheproof/json_web_key_test.json").testGroups) {
    const { keys } = group.public ?? group.private;
    for (const { tcId, comment, jws, result } of group.tests) {
      const expected = result === "valid" && isTokenAlgorithm(headerAlgorithm(jws));
      assert.equal(isVerified(jws, keys), expected, `tcId ${tcId}: ${comment}`);
      counts[result === "invalid" ? "invalid" : expected ? "valid" : "ofOthers"]++;
    }
  }
  assert.deepEqual(counts, { valid: 1, invalid: 14, ofOthers: 3 });
});

test("of the JOSE cookbook's keys none is one that an issuer may publish for our algorithms", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  // P-521, private and symmetric keys. The RSA key without its private members is one of ours.
  const names = vectors.names("jose-cookbook/jwk");
  for (const name of names) {
    const jwk: Jwk = vectors.json<Jwk>(`jose-cookbook/jwk/${name}`);
    const usable = (key: Jwk) => readPublishedKeys(new TextEncoder().encode(JSON.stringify({ keys: [key] }))).length;
    assert.equal(usable(jwk), 0, name);
    assert.equal(usable(publicPart(jwk)), name.startsWith("3_4") ? 1 : 0, name);
  }
  assert.equal(names.length, 5);
});

test("every verdict of the JOSE cookbook's signatures is right", (t) => {
  const vectors = findVectors(t);
  if (vectors === undefined) return;
  type File = { input: { key: Jwk; alg: string }; output: { compact?: string; json?: unknown } };
  const names = vectors.names("jose-cookbook/jws");
  const verified = names.filter((name) => {
    const { input, output } = vectors.json<File>(`jose-cookbook/jws/${name}`);
    const key = publicPart(input.key);
    if (output.json !== undefined) assert.ok(!isVerified(output.json, [key]), name);
    return output.compact !== undefined && isVerified(output.compact, [key]);
  });
  // The others are under ES512 and HMAC, without their content, or with an unprotected header.
  assert.deepEqual(verified, ["4_1.rsa_v15_signature.json"]);
  assert.equal(names.length, 5);
});
