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
  const { publicKeyAttestation, scheme, publicKey, signature } = readAttestedFields(headerValue);
  if (scheme !== attestedTokenScheme) throw unreadable(`scheme is not ${attestedTokenScheme}`);
  const publicKeyBytes = reading("publicKey is not a P-256 key as hex", () => readKey(curves, publicKey));
  return {
    scheme,
    publicKey: toHex(publicKeyBytes),
    publicKeyBytes,
    signature: reading("signature is not DER as hex", () => parseEcdsaDer(fromHex(signature))),
    token: reading("publicKeyAttestation is not a verification token", () =>
      parseVerificationToken(publicKeyAttestation),
    ),
    tokenText: publicKeyAttestation,
  };
}

function readKey(curves: PointCompression, publicKey: string): Uint8Array {
  const sentKey = fromHex(publicKey);
  // A compressed key is taken as it is: it means nothing until it equals the one in a token that verifies.
  const isStoredForm = sentKey.length === 33 && isPointEncoding(sentKey);
  return isStoredForm ? sentKey : curves.compressPoint("p256", sentKey);
}

type Fields = Record<"publicKeyAttestation" | "scheme" | "publicKey" | "signature", string>;

/** The four texts, unread. Unknown extra keys are tolerated, as clients may grow; duplicated or mistyped ones are not. */
export function readAttestedFields(headerValue: string): Fields {
  if (headerValue.length > maxHeaderLength) throw unreadable("it is too long");
  const value = reading("it is not base64url of JSON", () => {
    const bytes = headerValue.startsWith("{") ? utf8.encode(headerValue) : fromBase64url(headerValue);
    return readJson(bytes, maxHeaderLength, maxMarks);
  });
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw unreadable("it is not an object");
  const read = (name: keyof Fields): string => {
    const text = (value as Record<string, unknown>)[name];
    if (typeof text !== "string") throw unreadable(`${name} is missing or not a string`);
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

/** Whatever goes wrong while reading a part is refused with what is wrong with that part. */
function reading<T>(why: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw unreadable(why, cause instanceof Error ? cause.message : String(cause));
  }
}

/** `why` names a part and never quotes it. All of it is about the form of what the caller sent: nothing was looked up or verified. */
function unreadable(why: string, detail?: string): Fault {
  const options = { errorCode: "SIGNATURE_INVALID", ...(detail !== undefined && { detail }) } as const;
  return new Fault("unauthenticated", `could not extract attested stamp: ${why}`, options);
}
