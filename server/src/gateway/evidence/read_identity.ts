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

/** Statements of the courier about issuers. `address`: of the caller who named the issuer. */
export type ReadStatements = {
  statementOf(
    issuer: string,
    newerThanMs: number,
    address?: string,
  ): Promise<Pick<IssuerStatement, "keys" | "fetchedAtMs">>;
};

/** The same for one request: new issuers that it names count for its caller. */
export function askedFrom<D extends { issuers?: ReadStatements }>(dependencies: D, address: string | undefined): D {
  const { issuers } = dependencies;
  if (issuers === undefined) return dependencies;
  const counted: ReadStatements = {
    statementOf: (issuer, newerThanMs) => issuers.statementOf(issuer, newerThanMs, address),
  };
  return { ...dependencies, issuers: counted };
}

/**
 * What the token says, if its issuer vouches for it now; throws `invalid_argument` otherwise: `INVALID_OIDC_TOKEN` for a bad token, and
 * without a code, with the issuer's name, where the issuer cannot be asked.
 */
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
  const newer = await issuers.statementOf(issuer, fetchedAtMs).catch((error: unknown) => {
    // Those that were fetched a moment ago do not know its key, so the token is at fault.
    if (error instanceof Fault && error.code === "invalid_argument") throw invalidToken(error.message, error);
    throw error;
  });
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
    // The refusal of the stamp says that the token is bad. Of an issuer that cannot be asked, only its name tells what is wrong; and who
    // has this token has not shown that it is bad, so that the credential must not be noted as refused.
    if (!(error instanceof Fault) || error.errorCode !== "INVALID_OIDC_TOKEN") throw error;
    return { verify: refuse };
  }
}

function refuse(): never {
  throw invalidToken("its issuer does not vouch for it");
}
