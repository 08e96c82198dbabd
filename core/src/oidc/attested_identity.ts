/**
 * The `X-Stamp-Attested` header with an identity token: a signature over the exact body bytes by a key that is nowhere registered, and a
 * token whose nonce names that key. Reading does no curve arithmetic, as with other stamps.
 */
import { type Curves, isPointEncoding, type PointCompression } from "../crypto/curves.ts";
import { parseEcdsaDer } from "../encoding/der.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { readAttestedFields } from "../otp/attested_stamp.ts";
import type { IdentityClaims } from "./identity_claims.ts";
import { checkNonce, parseIdentityToken } from "./identity_token.ts";

export const attestedIdentityScheme = "STAMP_ATTESTED_SCHEME_P256_OIDC";

/** A stamp whose parts are well-formed. Whether its signature verifies, and whether its issuer vouches for the token, is still open. */
export type AttestedIdentity = {
  scheme: typeof attestedIdentityScheme;
  /** Compressed, lower-case hex. */
  publicKey: string;
  publicKeyBytes: Uint8Array;
  /** As it was sent: the nonce is over this text. */
  publicKeyText: string;
  /** r‖s over the body. */
  signature: Uint8Array;
  claims: IdentityClaims;
  /** The token as it was sent. */
  tokenText: string;
};

/** As for other attested stamps. */
const maxHeaderLength = 32 * 1024;

/** Whether the header carries an identity token. What cannot be read is left to the other kind to refuse. */
export function hasIdentityToken(headerValue: string): boolean {
  if (headerValue.length > maxHeaderLength) return false;
  try {
    return readAttestedFields(headerValue).scheme === attestedIdentityScheme;
  } catch {
    return false;
  }
}

export function parseAttestedIdentity(curves: PointCompression, headerValue: string): AttestedIdentity {
  if (headerValue.length > maxHeaderLength) throw unreadable("header too long");
  try {
    const { publicKeyAttestation, scheme, publicKey: publicKeyText, signature } = readAttestedFields(headerValue);
    if (scheme !== attestedIdentityScheme) throw new Fault("invalid_argument", "unknown scheme");
    const sentKey = fromHex(publicKeyText);
    const isStoredForm = sentKey.length === 33 && isPointEncoding(sentKey);
    const publicKeyBytes = isStoredForm ? sentKey : curves.compressPoint("p256", sentKey);
    return {
      scheme,
      publicKey: toHex(publicKeyBytes),
      publicKeyBytes,
      publicKeyText,
      signature: parseEcdsaDer(fromHex(signature)),
      claims: parseIdentityToken(publicKeyAttestation).claims,
      tokenText: publicKeyAttestation,
    };
  } catch (cause) {
    throw unreadable(cause);
  }
}

/** Whether the key has signed exactly these body bytes, and the token names the key. That its issuer vouches for it is a further question. */
export function isSignedByNamedKey(
  curves: Pick<Curves, "verifyP256" | "sha256">,
  { publicKeyBytes, publicKeyText, signature, claims }: AttestedIdentity,
  body: Uint8Array,
): boolean {
  try {
    checkNonce(curves, claims, publicKeyText);
  } catch {
    return false;
  }
  return curves.verifyP256(publicKeyBytes, body, signature);
}

function unreadable(cause: unknown): Fault {
  return new Fault("unauthenticated", "could not extract attested stamp", {
    errorCode: "SIGNATURE_INVALID",
    detail: cause instanceof Error ? cause.message : String(cause),
  });
}
