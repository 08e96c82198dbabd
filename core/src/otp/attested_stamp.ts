/**
 * The `X-Stamp-Attested` header: a signature over the exact body bytes by a key, and a token that says whose key it is. The key is nowhere
 * registered; a verification token is bound to it and names a contact. Reading does no curve arithmetic, as with other stamps.
 */
import { type Curves, isPointEncoding, type PointCompression } from "../crypto/curves.ts";
import { fromBase64url } from "../encoding/base64url.ts";
import { parseEcdsaDer } from "../encoding/der.ts";
import { fromHex, toHex } from "../encoding/hex.ts";
import { readJson } from "../encoding/json.ts";
import { Fault } from "../fault.ts";
import { parseVerificationToken, type SentToken, verifyVerificationToken } from "./verification_token.ts";

/** Identity tokens have a scheme of their own: `core/src/oidc/attested_identity.ts`. */
export const attestedTokenScheme = "STAMP_ATTESTED_SCHEME_P256_VERIFICATION_TOKEN";

/** A stamp whose parts are well-formed. Whether its signatures verify, and whether the token is over, is still open. */
export type AttestedStamp = {
  scheme: typeof attestedTokenScheme;
  /** Compressed, lower-case hex. */
  publicKey: string;
  publicKeyBytes: Uint8Array;
  /** r‖s over the body. */
  signature: Uint8Array;
  token: SentToken;
  /** The token as it was sent. */
  tokenText: string;
};

/** Tokens of identity providers, base64-encoded once more, will need as much. */
const maxHeaderLength = 32 * 1024;
/** Four fields, and what later clients may add. */
const maxMarks = 1_000;

const utf8 = new TextEncoder();

/** Reads the header: base64url of JSON as clients send it, or the JSON itself as the documents say. */
export function parseAttestedStamp(curves: PointCompression, headerValue: string): AttestedStamp {
  if (headerValue.length > maxHeaderLength) throw unreadable("header too long");
  try {
    const { publicKeyAttestation, scheme, publicKey, signature } = readAttestedFields(headerValue);
    if (scheme !== attestedTokenScheme) throw malformed("unknown scheme");
    const sentKey = fromHex(publicKey);
    // A compressed key is taken as it is: it means nothing until it equals the one in a token that verifies.
    const isStoredForm = sentKey.length === 33 && isPointEncoding(sentKey);
    const publicKeyBytes = isStoredForm ? sentKey : curves.compressPoint("p256", sentKey);
    return {
      scheme,
      publicKey: toHex(publicKeyBytes),
      publicKeyBytes,
      signature: parseEcdsaDer(fromHex(signature)),
      token: parseVerificationToken(publicKeyAttestation),
      tokenText: publicKeyAttestation,
    };
  } catch (cause) {
    throw unreadable(cause);
  }
}

type Fields = Record<"publicKeyAttestation" | "scheme" | "publicKey" | "signature", string>;

/** The four texts, unread. Unknown extra keys are tolerated, as clients may grow; duplicated or mistyped ones are not. */
export function readAttestedFields(headerValue: string): Fields {
  const bytes = headerValue.startsWith("{") ? utf8.encode(headerValue) : fromBase64url(headerValue);
  const value = readJson(bytes, maxHeaderLength, maxMarks);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed("not an object");
  const read = (name: keyof Fields): string => {
    const text = (value as Record<string, unknown>)[name];
    if (typeof text !== "string") throw malformed(`${name} is missing or not a string`);
    return text;
  };
  return {
    publicKeyAttestation: read("publicKeyAttestation"),
    scheme: read("scheme"),
    publicKey: read("publicKey"),
    signature: read("signature"),
  };
}

/** Whether the signer has bound the token to this key, and the key has signed exactly these body bytes. */
export function verifyAttestedStamp(
  curves: Pick<Curves, "verifyP256">,
  otpKey: Uint8Array,
  { publicKey, publicKeyBytes, signature, token }: AttestedStamp,
  body: Uint8Array,
): boolean {
  if (token.publicKey === undefined || token.publicKey !== publicKey) return false;
  return verifyVerificationToken(curves, otpKey, token) && curves.verifyP256(publicKeyBytes, body, signature);
}

function malformed(why: string): Fault {
  return new Fault("invalid_argument", why);
}

function unreadable(cause: unknown): Fault {
  return new Fault("unauthenticated", "could not extract attested stamp", {
    errorCode: "SIGNATURE_INVALID",
    detail: cause instanceof Error ? cause.message : String(cause),
  });
}
