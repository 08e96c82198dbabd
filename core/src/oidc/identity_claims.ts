/** The claims of an identity token: who its issuer says somebody is, for which application, and until when. */
import { invalidToken } from "./invalid_token.ts";
import { maxIssuerBytes } from "./issuer_statement.ts";
import { memberOf, readObject } from "./token_json.ts";

export type Identity = { issuer: string; subject: string; audience: string };

export type IdentityClaims = Identity & {
  expiresAtMs: number;
  notBeforeMs: number | undefined;
  issuedAtMs: number | undefined;
  /** `nonce` and `tknonce`: either may bind the token to a key. */
  nonces: readonly string[];
  /** An e-mail address that the issuer says it has verified. Whether that counts depends on the issuer. */
  verifiedEmail: string | undefined;
};

/** Issuers' clocks and ours may differ by this much. */
export const clockSkewMs = 60_000;
/** A token is for signing in now. One that an issuer lets live longer is no more taken after this. */
export const maxTokenAgeMs = 24 * 60 * 60_000;
/** OpenID Connect Core, section 2: a subject has at most 255 characters. Client ids have no limit; none is longer. */
const maxSubjectLength = 255;
const maxAudienceLength = 512;
const maxClaimBytes = 12 * 1024;
const maxClaimMarks = 2_000;

type Claims = Readonly<Record<string, unknown>>;

export function readIdentityClaims(payload: Uint8Array): IdentityClaims {
  const claims = readObject(payload, maxClaimBytes, maxClaimMarks);
  if (claims === undefined) throw invalidToken("its claims are no JSON object");
  const issuer = textClaim(claims, "iss", maxIssuerBytes);
  const subject = textClaim(claims, "sub", maxSubjectLength);
  const audience = audienceOf(claims);
  // The application that asked for the token. Where it is another than the audience, it was not this application's sign-in.
  const authorizedParty = memberOf(claims, "azp");
  if (authorizedParty !== undefined && authorizedParty !== audience) throw invalidToken("`azp` is not its audience");
  const expiresAtMs = timeClaim(claims, "exp");
  if (expiresAtMs === undefined) throw invalidToken("`exp` is missing");
  return {
    issuer,
    subject,
    audience,
    expiresAtMs,
    notBeforeMs: timeClaim(claims, "nbf"),
    issuedAtMs: timeClaim(claims, "iat"),
    nonces: ["nonce", "tknonce"].flatMap((name) => optionalText(claims, name) ?? []),
    verifiedEmail: verifiedEmailOf(claims),
  };
}

/** Throws unless it is the time of this token. */
export function checkTokenTime({ expiresAtMs, notBeforeMs, issuedAtMs }: IdentityClaims, nowMs: number): void {
  if (nowMs >= expiresAtMs + clockSkewMs) throw invalidToken("it has expired");
  if (notBeforeMs !== undefined && nowMs < notBeforeMs - clockSkewMs) throw invalidToken("it is not valid yet");
  if (issuedAtMs === undefined) return;
  if (nowMs < issuedAtMs - clockSkewMs) throw invalidToken("it was issued in the future");
  if (nowMs >= issuedAtMs + maxTokenAgeMs + clockSkewMs) throw invalidToken("it was issued too long ago");
}

/** One audience: a token for several could be presented to us by any of the others. */
function audienceOf(claims: Claims): string {
  const audience = memberOf(claims, "aud");
  if (!Array.isArray(audience)) return textClaim(claims, "aud", maxAudienceLength);
  if (audience.length !== 1) throw invalidToken("`aud` must have exactly one element");
  return textClaim({ aud: audience[0] }, "aud", maxAudienceLength);
}

function textClaim(claims: Claims, name: string, maxLength: number): string {
  const value = optionalText(claims, name);
  if (value === undefined || value === "") throw invalidToken(`\`${name}\` is missing`);
  if (new TextEncoder().encode(value).length > maxLength) throw invalidToken(`\`${name}\` is too long`);
  return value;
}

function optionalText(claims: Claims, name: string): string | undefined {
  const value = memberOf(claims, name);
  if (value !== undefined && typeof value !== "string") throw invalidToken(`\`${name}\` is no text`);
  return value;
}

/** Seconds since 1970, in milliseconds. Fractions are allowed (RFC 7519, section 2). */
function timeClaim(claims: Claims, name: string): number | undefined {
  const value = memberOf(claims, name);
  if (value === undefined) return undefined;
  // Beyond the year 9999 a sum of times would not stay exact.
  if (typeof value !== "number" || !(value >= 0 && value < 253_402_300_800))
    throw invalidToken(`\`${name}\` is no time`);
  return Math.floor(value * 1000);
}

/** Apple writes the boolean as a text. */
function verifiedEmailOf(claims: Claims): string | undefined {
  const email = memberOf(claims, "email");
  const isVerified = memberOf(claims, "email_verified");
  return typeof email === "string" && (isVerified === true || isVerified === "true") ? email : undefined;
}
