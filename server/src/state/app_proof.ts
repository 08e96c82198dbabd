/** App proofs: statements that the signer's process signed with the key of its start. Shapes as published; SPEC.md has the payloads. */
import type { ProvenActivity } from "@keystead/core/attestation/app_proof.ts";
import type { Outcome } from "@keystead/core/policy/decision/decide.ts";

export const appProofScheme = "SIGNATURE_SCHEME_EPHEMERAL_KEY_P256";

export type AppProof = {
  scheme: typeof appProofScheme;
  /** Hex of the encryption key and the signing key, 65 bytes each. */
  publicKey: string;
  /** JSON of an `AppProofPayload`; the signature is over these very characters. */
  proofPayload: string;
  /** Hex of r ‖ s. */
  signature: string;
};

export type AddressDerivation = {
  organizationId: string;
  walletId: string;
  derivationPath: string;
  address: string;
};

export type PolicyOutcome = {
  organizationId: string;
  outcome: Outcome;
  /** Hex of SHA-256 over the context, which `get_proof_context` answers. */
  decisionContextDigest: string;
  organizationDataDigest: string;
  /** Where the parent's state was read along. */
  parentOrganizationDataDigest?: string;
  userRequestApprovals: readonly { userId: string; credentialId: string; timestampMs: string }[];
};

/** It names the activity and its body, or anybody who can write the database could show it for another one. */
export type AppProofPayload = ProvenActivity & { timestampMs: string } & (
    | { type: "APP_PROOF_TYPE_ADDRESS_DERIVATION"; addressDerivationProof: AddressDerivation }
    | { type: "APP_PROOF_TYPE_POLICY_OUTCOME"; policyOutcomeProof: PolicyOutcome }
  );
