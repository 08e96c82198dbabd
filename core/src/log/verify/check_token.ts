/** Tokens that stand behind an act: of an attested stamp, or in the body of an act that nobody stamped. */
import type { Curves } from "../../crypto/curves.ts";
import { toHex } from "../../encoding/hex.ts";
import { readJson } from "../../encoding/json.ts";
import { uuidFromBytes } from "../../encoding/uuid.ts";
import { Fault } from "../../fault.ts";
import { checkIdentityToken, checkNonce, parseIdentityToken, verifyWithKeys } from "../../oidc/identity_token.ts";
import { parseKeySet } from "../../oidc/key_set.ts";
import type { TokenCrypto } from "../../oidc/token_algorithms.ts";
import { type ClientSignature, checkClientSignature, type TokenUsage } from "../../otp/client_signature.ts";
import { parseVerificationToken, type TokenClaims } from "../../otp/verification_token.ts";
import type { Leaf } from "../leaf.ts";
import { decodeIssuerKey, decodeMemoryVerdict } from "../outside_values.ts";

/** `bad`: why it shows nothing. `unchecked`: what of it cannot be seen from a leaf and its bodies. */
export type EvidenceVerdict = { bad: string } | { unchecked: string } | { good: true };

/** What verifying stamps and tokens takes. */
export type VerifierCurves = Curves & TokenCrypto;

/** What of a leaf judges a token. */
export type TokenPlace = Pick<Leaf, "timeMs" | "outside">;

export const good: EvidenceVerdict = { good: true };

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Throws `invalid_argument` for a token that is no text. */
function textOf(token: Uint8Array): string {
  try {
    return utf8.decode(token);
  } catch (cause) {
    throw new Fault("invalid_argument", "invalid token: not UTF-8", { cause });
  }
}

/** Whether the token vouches for the stamp's key at that time. That the deployment has signed the token is its own word, as the leaf is. */
export function checkStampToken(
  { publicKey, tokenId }: { publicKey: Uint8Array; tokenId: Uint8Array },
  token: Uint8Array,
  place: TokenPlace,
): EvidenceVerdict {
  const claims = parseVerificationToken(textOf(token));
  if (claims.tokenId !== uuidFromBytes(tokenId)) return { bad: "the verification token is another one" };
  if (claims.publicKey !== toHex(publicKey)) return { bad: "the verification token is bound to another key" };
  return checkTime(claims, place);
}

function checkTime({ expiresAtMs }: TokenClaims, { timeMs }: TokenPlace): EvidenceVerdict {
  return expiresAtMs > timeMs ? good : { bad: "the verification token had expired" };
}

/** Whether the issuer vouches for the stamp's key at that time. */
export function checkStampIdentity(
  curves: VerifierCurves,
  publicKey: Uint8Array,
  token: Uint8Array,
  place: TokenPlace,
): EvidenceVerdict {
  const sent = parseIdentityToken(textOf(token));
  const issued = checkIssuer(curves, sent, place);
  if (!("good" in issued)) return issued;
  // The nonce is over the key's text as it was sent, and the leaf has the key alone.
  const forms = [publicKey, curves.uncompressP256(publicKey)].map(toHex).flatMap((text) => [text, text.toUpperCase()]);
  const isNamed = forms.some((text) =>
    sent.claims.nonces.includes(toHex(curves.sha256(new TextEncoder().encode(text)))),
  );
  return isNamed
    ? good
    : { unchecked: "the nonce of the identity token names a key in another spelling, or another key" };
}

type IdentityToken = ReturnType<typeof parseIdentityToken>;

/** By the issuer's keys that the leaf has. Of tokens of the deployment itself, by the leaf's own word. */
function checkIssuer(curves: VerifierCurves, token: IdentityToken, place: TokenPlace): EvidenceVerdict {
  checkIdentityToken(token, place.timeMs);
  const taken = place.outside.flatMap(({ kind, value }) =>
    kind === "issuerKey" && value.kind === "bytes" ? [decodeIssuerKey(value.value)] : [],
  );
  const texts = new Set(taken.filter(({ issuer }) => issuer === token.claims.issuer).map(({ key }) => key));
  const keys = [...texts].flatMap((text) => parseKeySet(`{"keys":[${text}]}`));
  if (keys.length > 0) {
    const isVerified = verifyWithKeys(curves, token, keys).kind === "verified";
    return isVerified ? good : { bad: "no key of the issuer has signed the identity token" };
  }
  const verdicts = place.outside.flatMap(({ kind, value }) =>
    kind === "memoryVerdict" && value.kind === "bytes" ? [decodeMemoryVerdict(value.value)] : [],
  );
  const isOwn = verdicts.some(({ subject, isAllowed }) => subject === "ownToken" && isAllowed);
  return isOwn ? good : { unchecked: "no key of the issuer of its identity token is in the leaf" };
}

/** What an act without a stamp brings in its place. Where it was refused, perhaps for its token, nothing is claimed. */
export function checkUnstamped(
  curves: VerifierCurves,
  leaf: Pick<Leaf, "event" | "activityType"> & TokenPlace,
  body: Uint8Array,
): EvidenceVerdict {
  if (leaf.event !== "COMPLETED" && leaf.event !== "BIRTH") return good;
  const parameters = objectOf(objectOf(readJson(body, Number.POSITIVE_INFINITY)).parameters);
  const { verificationToken, oidcToken, publicKey } = parameters;
  const verdicts: EvidenceVerdict[] = [];
  if (isFilled(verificationToken)) verdicts.push(checkTokenIn(curves, verificationToken, parameters, leaf));
  if (isFilled(oidcToken)) {
    const sent = parseIdentityToken(oidcToken);
    if (typeof publicKey === "string") checkNonce(curves, sent.claims, publicKey);
    verdicts.push(checkIssuer(curves, sent, leaf));
  }
  for (const user of listOf(parameters.rootUsers)) {
    for (const { oidcToken } of listOf(user.oauthProviders)) {
      if (isFilled(oidcToken)) verdicts.push(checkIssuer(curves, parseIdentityToken(oidcToken), leaf));
    }
  }
  return verdicts.find((verdict) => "bad" in verdict) ?? verdicts.find((verdict) => "unchecked" in verdict) ?? good;
}

/** The holder of the key that a token is bound to has signed what it is used for. */
function checkTokenIn(
  curves: VerifierCurves,
  token: string,
  parameters: Record<string, unknown>,
  leaf: Pick<Leaf, "activityType"> & TokenPlace,
): EvidenceVerdict {
  const claims = parseVerificationToken(token);
  if (claims.publicKey !== undefined) {
    const { publicKey, scheme, message, signature } = objectOf(parameters.clientSignature);
    const sent = { publicKey, scheme, message, signature };
    if (Object.values(sent).some((part) => typeof part !== "string")) {
      return { bad: "nobody has signed for the use of the verification token" };
    }
    checkClientSignature(curves, claims, sent as ClientSignature, usageOf(leaf, parameters));
  }
  return checkTime(claims, leaf);
}

function usageOf({ activityType }: Pick<Leaf, "activityType">, parameters: Record<string, unknown>): TokenUsage {
  const [user] = listOf(parameters.rootUsers);
  if (user === undefined) return { kind: "login", publicKey: String(parameters.publicKey) };
  const { apiKeys, authenticators, oauthProviders, userEmail, userPhoneNumber } = user;
  const form = activityType.endsWith("_V7") ? "signup" : "signupV2";
  const signed = { apiKeys, authenticators, oauthProviders, email: userEmail, phoneNumber: userPhoneNumber };
  return { kind: "signup", form, ...signed } as TokenUsage;
}

const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

const listOf = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.map(objectOf) : []);
