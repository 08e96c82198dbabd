/** Issuers of identity tokens for tests: what their courier would say about them comes as data, and nothing is fetched. */
import { Fault } from "@keystead/core/fault.ts";
import { makeStatement, type StatementMac } from "@keystead/core/oidc/issuer_statement.ts";
import { readPublishedKeys, writeKeySet } from "@keystead/core/oidc/key_set.ts";
import {
  freshClaims,
  issueToken,
  makeIssuerKey,
  nonceFor,
  publishedKeys,
  type TestClaims,
  type TestIssuerKey,
} from "../../core/test/oidc/test_issuer.ts";
import type { IssuerSource } from "../src/gateway/submit/wishes.ts";

export const testIssuer = "https://issuer.example";

/** One key for all tests: making RSA keys takes long. */
export const testIssuerKey = makeIssuerKey("ES256", "test-key");

export type TestIssuers = IssuerSource & {
  /** What was asked for, in this order. */
  readonly asked: { issuer: string; newerThanMs: number }[];
  /** From now on the issuer has these keys, and no others. */
  publish(issuer: string, keys: readonly TestIssuerKey[]): void;
  /** From now on it cannot be reached. */
  remove(issuer: string): void;
  /** A statement of the courier's, as it would be fetched at a time. */
  statement(issuer: string, keys: readonly TestIssuerKey[], fetchedAtMs: number): Uint8Array;
};

export function createTestIssuers(mac: StatementMac, clock: { readonly nowMs: number }): TestIssuers {
  const published = new Map<string, readonly TestIssuerKey[]>([[testIssuer, [testIssuerKey]]]);
  const asked: TestIssuers["asked"] = [];
  const statement: TestIssuers["statement"] = (issuer, keys, fetchedAtMs) => {
    const text = writeKeySet(readPublishedKeys(new TextEncoder().encode(publishedKeys(keys))));
    return makeStatement(mac, { issuer, keys: text, fetchedAtMs });
  };
  return {
    asked,
    statement,
    publish: (issuer, keys) => void published.set(issuer, keys),
    remove: (issuer) => void published.delete(issuer),
    async statementOf(issuer, newerThanMs) {
      asked.push({ issuer, newerThanMs });
      const keys = published.get(issuer);
      if (keys === undefined) {
        throw new Fault("invalid_argument", `the keys of the issuer \`${issuer}\` cannot be fetched`);
      }
      return { bytes: statement(issuer, keys, clock.nowMs) };
    },
  };
}

/** A token of the test issuer that is good at this time; with `boundTo`, for signing in with that key. */
export function testToken(nowMs: number, claims: TestClaims = {}, boundTo?: string, key = testIssuerKey): string {
  const nonce = boundTo === undefined ? {} : { nonce: nonceFor(boundTo) };
  return issueToken(key, freshClaims(nowMs, { iss: testIssuer, ...nonce, ...claims }));
}
