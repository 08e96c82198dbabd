/** Our own identity tokens, as the gateway verifies them: by the key that the signer has told it. Nothing is fetched from ourselves. */
import type { Curves } from "@keystead/core/crypto/curves.ts";
import { fromHex } from "@keystead/core/encoding/hex.ts";
import { writeKeySet } from "@keystead/core/oidc/key_set.ts";
import { ownIssuerKey } from "@keystead/core/oidc/own_issuer.ts";

type Statements = {
  statementOf(issuer: string, newerThanMs: number, address?: string): Promise<{ keys: string; fetchedAtMs: number }>;
};

export type OwnIssuerFacts = {
  curves: Pick<Curves, "sha256">;
  /** What our tokens have in `iss`; undefined: there are none. */
  publicUrl: string | undefined;
  publicKeys(): Readonly<Record<string, string>>;
};

export function withOwnIssuer(issuers: Statements, { curves, publicUrl, publicKeys }: OwnIssuerFacts): Statements {
  return {
    async statementOf(issuer, newerThanMs, address) {
      const { identity } = publicKeys();
      if (issuer !== publicUrl || identity === undefined) return issuers.statementOf(issuer, newerThanMs, address);
      return { keys: writeKeySet([ownIssuerKey(curves, fromHex(identity))]), fetchedAtMs: Date.now() };
    },
  };
}
