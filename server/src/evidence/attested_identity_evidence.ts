/**
 * A stamp by a key that is registered nowhere: an identity token names the key in its nonce, and a user has registered the identity. Nobody
 * is looked for before the token is verified, or one that anybody made up would tell who has registered what. Leaves and votes keep the
 * token's digest; the token lies sealed until it has ended.
 */
import type { ShownEvidence } from "@keystead/core/crypto/evidence.ts";
import { parseEcdsaDer } from "@keystead/core/encoding/der.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { Fault } from "@keystead/core/fault.ts";
import {
  type AttestedIdentity,
  attestedIdentityScheme,
  isSignedByNamedKey,
  parseAttestedIdentity,
} from "@keystead/core/oidc/attested_identity.ts";
import { clockSkewMs } from "@keystead/core/oidc/identity_claims.ts";
import { readAttestedFields } from "@keystead/core/otp/attested_stamp.ts";
import { identityLookup } from "../state/credentials.ts";
import { sha256 } from "../state/digest.ts";
import type { EvidenceRow, KeptEvidence } from "./evidence_row.ts";

const unknownCode = "CREDENTIAL_NOT_FOUND";
const invalidCode = "SIGNATURE_INVALID";

type Kept = Extract<KeptEvidence, { kind: "attestedIdentity" }>["value"];

export const attestedIdentityEvidence: EvidenceRow<AttestedIdentity> = {
  // It shares the header of stamps with a verification token: their schemes tell them apart.
  header: undefined,
  opensListedOnly: true,
  verifiedBeforeLookup: true,
  schemes: [attestedIdentityScheme],
  parse: parseAttestedIdentity,
  lookup: ({ claims }) => identityLookup(claims),
  endsAtMs: ({ claims }) => claims.expiresAtMs + clockSkewMs,
  verify({ curves, identities }, stamp, body) {
    if (!isSignedByNamedKey(curves, stamp, body)) return false;
    if (identities === undefined) throw new Fault("unavailable", "issuers cannot be asked now; try again");
    try {
      identities.verify(stamp.tokenText);
      return true;
    } catch (error) {
      if (error instanceof Fault && error.errorCode === "INVALID_OIDC_TOKEN") return false;
      throw error;
    }
  },
  needsOrigins: false,
  keep: (_curves, { scheme, publicKeyBytes, signature, tokenText }) => ({
    kind: "attestedIdentity",
    value: { scheme, publicKey: publicKeyBytes, signature, tokenDigest: sha256(tokenText) },
  }),
  token: ({ tokenText }) => tokenText,
  show(value) {
    const { signature, publicKeyAttestation, publicKey } = readAttestedFields(value);
    const parts = { signature, tokenDigest: `sha256:${toHex(sha256(publicKeyAttestation))}` };
    return { publicKey: compressed(publicKey), signature: JSON.stringify(parts), scheme: attestedIdentityScheme };
  },
  fromShown: () => {
    throw new Fault("internal", "a vote does not show the token that it was given with");
  },
  keepShown: (shown) => ({ kind: "attestedIdentity", value: keptOfShown(shown) }),
  unknownCode,
  invalidCode,
  unknown: () =>
    new Fault("unauthenticated", "could not find a user with the identity of this OIDC token in organization", {
      errorCode: unknownCode,
    }),
  expired: () => new Fault("unauthenticated", "expired OIDC token", { errorCode: "UNAUTHENTICATED" }),
  unverified: () =>
    new Fault("unauthenticated", "could not verify attested stamp signature", { errorCode: invalidCode }),
  ambiguous: () =>
    new Fault("unauthenticated", "more than one suborg associated with the identity of this OIDC token", {
      errorCode: "CREDENTIAL_CONFLICT",
    }),
};

/** The key as leaves have it. It was verified, so it is a point in one of two forms. */
function compressed(publicKey: string): string {
  const bytes = fromHex(publicKey);
  if (bytes.length === 33) return toHex(bytes);
  return toHex(Uint8Array.of(2 + ((bytes[64] ?? 0) & 1), ...bytes.subarray(1, 33)));
}

/** What a leaf keeps, read from what a vote shows. */
function keptOfShown({ publicKey, signature, scheme }: ShownEvidence): Kept {
  const parts = JSON.parse(signature) as Record<"signature" | "tokenDigest", string>;
  return {
    scheme,
    publicKey: fromHex(publicKey),
    signature: parseEcdsaDer(fromHex(parts.signature)),
    tokenDigest: fromHex(parts.tokenDigest.replace(/^sha256:/, "")),
  };
}
