/**
 * Identity tokens that queries are asked with. The gateway verifies them itself, with the signer's code, on statements that it got from its
 * courier: what it lets in by one is a reader and nobody else.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { IdentityClaims } from "@keystead/core/oidc/identity_claims.ts";
import { checkIdentityToken, parseIdentityToken, verifyWithKeys } from "@keystead/core/oidc/identity_token.ts";
import { invalidToken } from "@keystead/core/oidc/invalid_token.ts";
import type { IssuerStatement } from "@keystead/core/oidc/issuer_statement.ts";
import { parseKeySet } from "@keystead/core/oidc/key_set.ts";
import { nodeTokenCrypto } from "../../curves/node_token_crypto.ts";
import type { Verification } from "../../evidence/evidence_row.ts";

/** Statements of the courier about issuers. */
export type ReadStatements = {
  statementOf(issuer: string, newerThanMs: number): Promise<Pick<IssuerStatement, "keys" | "fetchedAtMs">>;
};

/** What the token says, if its issuer vouches for it now; throws `invalid_argument` otherwise. */
export async function verifyIdentity(
  issuers: ReadStatements | undefined,
  tokenText: string,
  nowMs: number,
): Promise<IdentityClaims> {
  if (issuers === undefined) throw new Fault("unavailable", "issuers cannot be asked now; try again");
  const token = parseIdentityToken(tokenText);
  checkIdentityToken(token, nowMs);
  const { issuer } = token.claims;
  const judge = (keys: string) => verifyWithKeys(nodeTokenCrypto, token, parseKeySet(keys)).kind;
  const { keys, fetchedAtMs } = await issuers.statementOf(issuer, 0);
  if (judge(keys) === "verified") return token.claims;
  // None of its keys is the token's: it may have newer ones.
  const newer = await issuers.statementOf(issuer, fetchedAtMs);
  if (judge(newer.keys) === "verified") return token.claims;
  throw invalidToken("its key is not one that its issuer publishes now");
}

/** What a stamp with this token is verified with: its issuer is asked first, because verifying does not wait. */
export async function readIdentity(
  issuers: ReadStatements | undefined,
  tokenText: string,
  nowMs: number,
): Promise<NonNullable<Verification["identities"]>> {
  try {
    const claims = await verifyIdentity(issuers, tokenText, nowMs);
    return { verify: (text) => (text === tokenText ? claims : refuse()) };
  } catch (error) {
    // It is the caller's token, or its issuer, that is at fault: the refusal of the stamp says so.
    if (!(error instanceof Fault) || error.code !== "invalid_argument") throw error;
    return { verify: refuse };
  }
}

function refuse(): never {
  throw invalidToken("its issuer does not vouch for it");
}
