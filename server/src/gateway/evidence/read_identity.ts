/**
 * Identity tokens that queries are asked with. The gateway verifies them itself, with the signer's code, on statements that it got from its
 * courier: what it lets in by one is a reader and nobody else.
 */
import { Fault } from "@keystead/core/fault.ts";
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

/** What a stamp with this token is verified with: the keys of its issuer are asked for first, because verifying does not wait. */
export async function readIdentity(
  issuers: ReadStatements | undefined,
  tokenText: string,
  nowMs: number,
): Promise<NonNullable<Verification["identities"]>> {
  if (issuers === undefined) throw new Fault("unavailable", "issuers cannot be asked now; try again");
  const token = parseIdentityToken(tokenText);
  const { issuer } = token.claims;
  const judge = (keys: string) => {
    checkIdentityToken(token, nowMs);
    return verifyWithKeys(nodeTokenCrypto, token, parseKeySet(keys)).kind;
  };
  try {
    const { keys, fetchedAtMs } = await issuers.statementOf(issuer, 0);
    const verdict = judge(keys);
    const newest = verdict === "unknown" ? judge((await issuers.statementOf(issuer, fetchedAtMs)).keys) : verdict;
    if (newest === "verified") return { verify: (text) => verified(text === tokenText) };
  } catch (error) {
    // It is the caller's token, or its issuer, that is at fault: the refusal of the stamp says so.
    if (!(error instanceof Fault) || error.code !== "invalid_argument") throw error;
  }
  return { verify: () => verified(false) };

  function verified(isSo: boolean) {
    if (!isSo) throw invalidToken("its issuer does not vouch for it");
    return token.claims;
  }
}
