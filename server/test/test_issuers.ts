/** Issuers of identity tokens for tests: what their courier would say about them comes as data, and nothing is fetched. */
import type { SentEvidence } from "@keystead/core/crypto/evidence.ts";
import { signStamp } from "@keystead/core/crypto/sign_stamp.ts";
import { Fault } from "@keystead/core/fault.ts";
import {
  type IssuerStatement,
  makeStatement,
  peekStatement,
  type StatementMac,
} from "@keystead/core/oidc/issuer_statement.ts";
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
  statementOf(issuer: string, newerThanMs: number): Promise<IssuerStatement & { bytes: Uint8Array }>;
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
      const bytes = statement(issuer, keys, clock.nowMs);
      return { ...peekStatement(bytes), bytes };
    },
  };
}

/** A token of the test issuer that is good at this time; with `boundTo`, for signing in with that key. */
export function testToken(nowMs: number, claims: TestClaims = {}, boundTo?: string, key = testIssuerKey): string {
  const nonce = boundTo === undefined ? {} : { nonce: nonceFor(boundTo) };
  return issueToken(key, freshClaims(nowMs, { iss: testIssuer, ...nonce, ...claims }));
}

/** A stamp over a body by a key that is registered nowhere, and that a token of the test issuer names. */
export function identityEvidence(
  { publicKey, privateKey }: { publicKey: string; privateKey: Uint8Array },
  body: Uint8Array,
  nowMs: number,
  claims: TestClaims = {},
  signedBy = testIssuerKey,
): SentEvidence<"attestedIdentity"> {
  const stamp = JSON.parse(
    Buffer.from(signStamp(privateKey, "SIGNATURE_SCHEME_TK_API_P256", body), "base64url").toString("utf8"),
  ) as { signature: string };
  const fields = {
    publicKeyAttestation: testToken(nowMs, claims, publicKey, signedBy),
    scheme: "STAMP_ATTESTED_SCHEME_P256_OIDC",
    publicKey,
    signature: stamp.signature,
  };
  return { kind: "attestedIdentity", value: Buffer.from(JSON.stringify(fields)).toString("base64url") };
}
