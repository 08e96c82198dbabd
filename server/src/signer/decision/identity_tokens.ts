/**
 * The signer's side of identity tokens. It has no network: the keys of issuers come in statements of the courier, which the gateway brings
 * when the decision wishes for them. A statement is believed for its MAC, and for an hour by the signer's own clock.
 */

import { Fault } from "@keystead/core/fault.ts";
import type { NewLeaf } from "@keystead/core/log/leaf.ts";
import { encodeIssuerKey } from "@keystead/core/log/outside_values.ts";
import type { IdentityClaims } from "@keystead/core/oidc/identity_claims.ts";
import { clockSkewMs } from "@keystead/core/oidc/identity_claims.ts";
import {
  checkIdentityToken,
  findTokenKeys,
  parseIdentityToken,
  type SentIdentityToken,
  verifyWithKeys,
} from "@keystead/core/oidc/identity_token.ts";
import { invalidToken } from "@keystead/core/oidc/invalid_token.ts";
import {
  type IssuerStatement,
  maxStatementAgeMs,
  openStatement,
  refetchPauseMs,
} from "@keystead/core/oidc/issuer_statement.ts";
import { type IssuerKey, parseKeySet } from "@keystead/core/oidc/key_set.ts";
import { ownIssuerKey } from "@keystead/core/oidc/own_issuer.ts";
import { nodeTokenCrypto } from "../../curves/node_token_crypto.ts";
import type { IdentityAccess } from "../../endpoints/identity_access.ts";
import type { VerdictAccess } from "../../endpoints/verdict_access.ts";
import type { Request } from "../../frames/messages.ts";
import { needsIssuer } from "./needs_more.ts";
import type { Signer } from "./signer.ts";
import { UnrecordedFault } from "./unrecorded_fault.ts";

/** Each stands in the leaf, with some hundred bytes. */
const maxTakenKeys = 16;

export type IdentityTokens = IdentityAccess & {
  /** What the decision took from outside so far, as its leaf names it. */
  readonly taken: NewLeaf["outside"];
};

export function openIdentityTokens(
  { keyring, linkingIssuers, ownIssuer }: Pick<Signer, "keyring" | "linkingIssuers" | "ownIssuer">,
  { statements }: Pick<Request<"prepare">, "statements">,
  nowMs: number,
  verdicts: VerdictAccess,
): IdentityTokens {
  const taken: NewLeaf["outside"][number][] = [];
  const takenKeys = new Set<string>();
  let opened: readonly IssuerStatement[] | undefined;
  /** By the text of a set. Reading one of many keys takes longer than verifying a token, and one request may bring a hundred. */
  const keySets = new Map<string, readonly IssuerKey[]>();

  /** The newest one that was brought about this issuer; undefined where it is missing or over. Throws for one that nobody has said. */
  function findStatement(issuer: string): IssuerStatement | undefined {
    opened ??= statements.map(openBrought);
    const about = opened.filter((statement) => statement.issuer === issuer);
    const [newest] = about.sort((a, b) => b.fetchedAtMs - a.fetchedAtMs);
    if (newest !== undefined && newest.fetchedAtMs > nowMs + clockSkewMs) {
      throw new Fault("unavailable", "the courier's clock is ahead of the signer's: set the clock of this host");
    }
    return newest;
  }

  function openBrought(bytes: Uint8Array): IssuerStatement {
    try {
      return openStatement(keyring.statementMac, bytes);
    } catch (cause) {
      throw new Fault("unavailable", "the keys of an issuer did not come from this deployment's courier", { cause });
    }
  }

  function note({ issuer, fetchedAtMs }: IssuerStatement, keys: readonly IssuerKey[]): void {
    for (const { jwk } of keys) {
      const key = JSON.stringify(jwk);
      const name = JSON.stringify([issuer, fetchedAtMs, key]);
      if (takenKeys.has(name)) continue;
      if (taken.length >= maxTakenKeys) {
        throw new Fault("invalid_argument", `identity tokens under more than ${maxTakenKeys} keys in one request`);
      }
      takenKeys.add(name);
      taken.push({ kind: "issuerKey", value: { kind: "bytes", value: encodeIssuerKey({ issuer, fetchedAtMs, key }) } });
    }
  }

  function keysIn({ keys: text }: IssuerStatement): readonly IssuerKey[] {
    const known = keySets.get(text) ?? parseKeySet(text);
    keySets.set(text, known);
    return known;
  }

  function verifyWith(statement: IssuerStatement, token: SentIdentityToken): void {
    const keys = keysIn(statement);
    // Before the verdict: a refusal by this key is an outcome that follows from it, too.
    note(statement, findTokenKeys(token, keys));
    if (verifyWithKeys(nodeTokenCrypto, token, keys).kind === "verified") return;
    const { issuer, fetchedAtMs } = statement;
    // An issuer is not asked again within this time, so there is nothing newer to wait for.
    if (fetchedAtMs + refetchPauseMs <= nowMs) throw needsIssuer(issuer, fetchedAtMs);
    const { code, message, errorCode } = invalidToken("its key is not one that its issuer publishes now");
    throw new UnrecordedFault(code, message, { errorCode });
  }

  /** By the key that the signer has itself: nothing is taken from outside. */
  function verifyOwn(token: SentIdentityToken): void {
    const key = ownIssuerKey(nodeTokenCrypto, keyring.identity.publicKey);
    if (!verdicts.confirm("ownToken", () => verifyWithKeys(nodeTokenCrypto, token, [key]).kind === "verified")) {
      throw invalidToken("its key is not one that its issuer publishes now");
    }
  }

  return {
    taken,
    linkingIssuers,
    verify(oidcToken): IdentityClaims {
      const token = parseIdentityToken(oidcToken);
      checkIdentityToken(token, nowMs);
      const { issuer } = token.claims;
      if (issuer === ownIssuer) {
        verifyOwn(token);
        return token.claims;
      }
      const statement = findStatement(issuer);
      if (statement === undefined) throw needsIssuer(issuer, 0);
      if (statement.fetchedAtMs + maxStatementAgeMs <= nowMs) throw needsIssuer(issuer, statement.fetchedAtMs);
      verifyWith(statement, token);
      return token.claims;
    },
  };
}
