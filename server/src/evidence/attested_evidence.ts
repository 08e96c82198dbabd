/**
 * A stamp by a key that is registered nowhere: a verification token says that its holder has answered a code which was sent to a contact.
 * The user is whoever has that contact (state/contacts.ts). Nobody is looked for before the stamp is verified, or a token that anybody
 * made up would tell which contacts there are. Leaves and votes keep the token's digest and id; the token lies sealed until
 * it has ended.
 */
import type { ShownEvidence } from "@keystead/core/crypto/evidence.ts";
import { parseEcdsaDer } from "@keystead/core/encoding/der.ts";
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import {
  type AttestedStamp,
  attestedTokenScheme,
  parseAttestedStamp,
  readAttestedFields,
  verifyAttestedStamp,
} from "@keystead/core/otp/attested_stamp.ts";
import { otpTypes } from "@keystead/core/otp/otp_types.ts";
import { parseVerificationToken, tokenBodyMs } from "@keystead/core/otp/verification_token.ts";
import { sha256 } from "../state/digest.ts";
import type { EvidenceRow, KeptEvidence } from "./evidence_row.ts";

const unknownCode = "CREDENTIAL_NOT_FOUND";
const invalidCode = "SIGNATURE_INVALID";

type Kept = Extract<KeptEvidence, { kind: "attested" }>["value"];

export const attestedEvidence: EvidenceRow<AttestedStamp> = {
  header: "x-stamp-attested",
  opensListedOnly: true,
  schemes: [attestedTokenScheme],
  parse: parseAttestedStamp,
  lookup: ({ token: { organizationId, verificationType, contact } }) => ({
    by: "contact",
    organizationId,
    kind: otpTypes[verificationType].contact,
    contact,
  }),
  endsAtMs: ({ token }) => token.expiresAtMs,
  verify({ curves, otpKey, acceptedAtMs = 0 }, stamp, body) {
    if (otpKey === undefined) throw new Fault("unavailable", "the signer is not ready; try again");
    return tokenBodyMs(stamp.token) > acceptedAtMs && verifyAttestedStamp(curves, otpKey, stamp, body);
  },
  needsOrigins: false,
  keep: (_curves, { scheme, publicKeyBytes, signature, token, tokenText }) => ({
    kind: "attested",
    value: {
      scheme,
      publicKey: publicKeyBytes,
      signature,
      tokenId: uuidToBytes(token.tokenId),
      tokenDigest: sha256(tokenText),
    },
  }),
  token: ({ tokenText }) => tokenText,
  show(value) {
    const { signature, publicKeyAttestation } = readAttestedFields(value);
    // It was verified: the token is bound to the stamp's key, in the one spelling that leaves have too.
    const { tokenId, publicKey = "" } = parseVerificationToken(publicKeyAttestation);
    const parts = { signature, tokenId, tokenDigest: `sha256:${toHex(sha256(publicKeyAttestation))}` };
    return { publicKey, signature: JSON.stringify(parts), scheme: attestedTokenScheme };
  },
  fromShown: () => {
    throw new Fault("internal", "a vote does not show the token that it was given with");
  },
  keepShown: (shown) => ({ kind: "attested", value: keptOfShown(shown) }),
  unknownCode,
  invalidCode,
  /** The same whether nobody has the contact, it was never verified there, or the token was issued elsewhere. */
  unknown: () =>
    new Fault("unauthenticated", "could not find a user with the contact of this verification token in organization", {
      errorCode: unknownCode,
    }),
  expired: () => new Fault("unauthenticated", "expired verification token", { errorCode: "UNAUTHENTICATED" }),
  unverified: () =>
    new Fault("unauthenticated", "could not verify attested stamp signature", { errorCode: invalidCode }),
  ambiguous: () =>
    new Fault("unauthenticated", "more than one user associated with the contact of this verification token", {
      errorCode: "CREDENTIAL_CONFLICT",
    }),
};

/** What a leaf keeps, read from what a vote shows. */
function keptOfShown({ publicKey, signature, scheme }: ShownEvidence): Kept {
  const parts = JSON.parse(signature) as Record<"signature" | "tokenId" | "tokenDigest", string>;
  return {
    scheme,
    publicKey: fromHex(publicKey),
    signature: parseEcdsaDer(fromHex(parts.signature)),
    tokenId: uuidToBytes(parts.tokenId),
    tokenDigest: fromHex(parts.tokenDigest.replace(/^sha256:/, "")),
  };
}
