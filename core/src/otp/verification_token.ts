/**
 * Verification tokens: the signer's word that somebody has answered the code that was sent to a contact. A standard ES256 JWT by the
 * service key `otp`, which published clients verify. We read only what we write ourselves: one header, these claims and no others, so no
 * token can choose how it is verified, and no other kind of token passes for one. SPEC.md has the bytes.
 */
import type { BundleSigner } from "../crypto/bundles.ts";
import type { Curves } from "../crypto/curves.ts";
import { escapeForAtob } from "../crypto/session_jwt.ts";
import { fromBase64url, toBase64url } from "../encoding/base64url.ts";
import { fromHexAt } from "../encoding/hex.ts";
import { readJson } from "../encoding/json.ts";
import { Fault } from "../fault.ts";
import { isOtpType, type OtpType } from "./otp_types.ts";

export type TokenClaims = {
  /** Derives from the code and from the body that answered it; begins with that body's time. */
  tokenId: string;
  expiresAtMs: number;
  /** The organization that issued it. */
  organizationId: string;
  verificationType: OtpType;
  /** As it was given when the code was sent. */
  contact: string;
  /** The key that it is bound to: compressed, lower-case hex. Undefined for one that is good for a single login. */
  publicKey: string | undefined;
};

/** A token as it was read. Whether the signer made it, and whether it is over, is still open. */
export type SentToken = TokenClaims & { signed: Uint8Array; signature: Uint8Array };

const utf8 = new TextEncoder();
const header = toBase64url(utf8.encode('{"typ":"JWT","alg":"ES256"}'));

/** An address of 254 characters that are all escaped takes 2,700. */
const maxTokenLength = 4_096;
/** Six claims. */
const maxMarks = 20;
const signatureLength = 64;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const milliseconds = /^[1-9][0-9]{0,14}$/;
const compressedPoint = /^0[23][0-9a-f]{64}$/;

/** All claims are text, the time too: clients refuse a number there. */
export function makeVerificationToken(otpSigner: Pick<BundleSigner, "sign">, claims: TokenClaims): string {
  const payload = JSON.stringify({
    exp: String(claims.expiresAtMs),
    id: claims.tokenId,
    organization_id: claims.organizationId,
    verification_type: claims.verificationType,
    contact: claims.contact,
    ...(claims.publicKey !== undefined && { public_key: claims.publicKey }),
  });
  const signed = `${header}.${toBase64url(utf8.encode(escapeForAtob(payload)))}`;
  return `${signed}.${toBase64url(otpSigner.sign(utf8.encode(signed)))}`;
}

/** Throws `invalid_argument` for everything that we would not have written. */
export function parseVerificationToken(token: string): SentToken {
  if (token.length > maxTokenLength) throw invalidToken("too long");
  const [sentHeader, payload, signature, ...more] = token.split(".");
  if (payload === undefined || signature === undefined || more.length > 0) throw invalidToken("not three parts");
  // The text itself: whatever else a header may say, it says something that we do not do.
  if (sentHeader !== header) throw invalidToken("it is another kind of token");
  const signatureBytes = fromOneSpelling(signature);
  if (signatureBytes.length !== signatureLength) throw invalidToken("a signature has 64 bytes");
  const claims = readClaims(fromOneSpelling(payload));
  return { ...claims, signed: utf8.encode(`${sentHeader}.${payload}`), signature: signatureBytes };
}

/** Base64url without padding, and nothing else that our readers take elsewhere. */
function fromOneSpelling(text: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = fromBase64url(text);
  } catch (cause) {
    throw invalidToken("not base64url", cause);
  }
  if (toBase64url(bytes) !== text) throw invalidToken("not base64url");
  return bytes;
}

function readClaims(payload: Uint8Array): TokenClaims {
  let value: unknown;
  try {
    value = readJson(payload, maxTokenLength, maxMarks);
  } catch (cause) {
    throw invalidToken("its claims cannot be read", cause);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalidToken("no claims");
  const { exp, id, organization_id, verification_type, contact, public_key, ...others } = value as Claims;
  if (Object.keys(others).length > 0) throw invalidToken("another claim");
  if (typeof exp !== "string" || !milliseconds.test(exp)) throw invalidToken("exp");
  if (typeof id !== "string" || !uuid.test(id)) throw invalidToken("id");
  if (typeof organization_id !== "string" || !uuid.test(organization_id)) throw invalidToken("organization_id");
  if (typeof verification_type !== "string" || !isOtpType(verification_type)) throw invalidToken("verification_type");
  if (typeof contact !== "string" || contact === "") throw invalidToken("contact");
  if (public_key !== undefined && (typeof public_key !== "string" || !compressedPoint.test(public_key))) {
    throw invalidToken("public_key");
  }
  return {
    tokenId: id,
    expiresAtMs: Number(exp),
    organizationId: organization_id,
    verificationType: verification_type,
    contact,
    publicKey: public_key,
  };
}

type Claims = Partial<
  Record<"exp" | "id" | "organization_id" | "verification_type" | "contact" | "public_key", unknown>
>;

/** Whether the service key `otp`, 33 bytes, has signed it. */
export function verifyVerificationToken(
  { verifyP256 }: Pick<Curves, "verifyP256">,
  otpKey: Uint8Array,
  { signed, signature }: SentToken,
): boolean {
  return verifyP256(otpKey, signed, signature);
}

/** The time of the body that a token was made for: the first 48 bits of its id. */
export function tokenBodyMs({ tokenId }: Pick<TokenClaims, "tokenId">): number {
  const bytes = fromHexAt(`${tokenId.slice(0, 8)}${tokenId.slice(9, 13)}`, 0);
  return bytes.reduce((time, byte) => time * 256 + byte, 0);
}

/** What a token is judged by. */
export type TokenJudgement = {
  /** The service key `otp`, 33 bytes. */
  otpKey: Uint8Array;
  nowMs: number;
  /** After a restore nothing that was made up to this time counts. 0 for none. */
  acceptedAtMs: number;
  /** The organization that the token is used in, and its parent. */
  organizationIds: readonly string[];
};

/** Reads and judges a token; throws `invalid_argument` with the reason. */
export function checkVerificationToken(
  curves: Pick<Curves, "verifyP256">,
  token: string,
  { otpKey, nowMs, acceptedAtMs, organizationIds }: TokenJudgement,
): TokenClaims {
  const sent = parseVerificationToken(token);
  if (!verifyVerificationToken(curves, otpKey, sent)) throw invalidToken("its signature does not verify");
  if (sent.expiresAtMs <= nowMs) throw invalidToken("it has expired; verify a new code");
  if (tokenBodyMs(sent) <= acceptedAtMs) throw invalidToken("the database was restored since; verify a new code");
  if (!organizationIds.includes(sent.organizationId)) throw invalidToken("it was issued by another organization");
  const { signed: _, signature: __, ...claims } = sent;
  return claims;
}

function invalidToken(why: string, cause?: unknown): Fault {
  return new Fault("invalid_argument", `invalid verification token: ${why}`, { cause });
}
