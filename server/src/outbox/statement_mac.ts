/**
 * What the courier's statements about issuers are marked with (`core/src/oidc/SPEC.md`). It derives from the courier key, which signer and
 * courier have and the gateway never has; so the launcher still carries one key, and older keyrings have this one, too.
 */
import type { StatementMac } from "@keystead/core/oidc/issuer_statement.ts";
import { createMac, deriveKey } from "../state/digest.ts";

export function createStatementMac(courierKey: Uint8Array): StatementMac {
  return createMac(deriveKey(courierKey, "issuer-statements"));
}
