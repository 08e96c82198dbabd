/** Identity tokens, for the activities that take them. Nothing of this exists outside the signer. */
import type { IdentityClaims } from "@keystead/core/oidc/identity_claims.ts";

export type IdentityAccess = {
  /**
   * What the token says, if its issuer vouches for it now. Throws `invalid_argument` where it does not. Whether it was issued for a key is
   * a further question.
   */
  verify(oidcToken: string): IdentityClaims;
  /** Issuers whose word about an e-mail address counts as that of its owner. */
  readonly linkingIssuers: ReadonlySet<string>;
};
