/** Identity tokens, from what a request carries to an identity that their issuer vouches for. SPEC.md has the rules. */
import { fromBase64url } from "../encoding/base64url.ts";
import { toHex } from "../encoding/hex.ts";
import { type CompactJws, maxTokenLength, parseCompactJws } from "./compact_jws.ts";
import { checkTokenTime, type IdentityClaims, readIdentityClaims } from "./identity_claims.ts";
import { invalidToken } from "./invalid_token.ts";
import type { IssuerKey } from "./key_set.ts";
import type { TokenCrypto } from "./token_algorithms.ts";

/** A token as it was read. Whether its issuer signed it is still open. */
export type SentIdentityToken = { jws: CompactJws; claims: IdentityClaims };

/** What came of looking at a token with an issuer's keys. `unknown`: none of them is the token's; the issuer may have newer ones. */
export type KeyVerdict = { kind: "verified"; key: IssuerKey } | { kind: "unknown" };

/** `oidcToken` of a request: the compact form itself, or base64 of it. */
export function parseIdentityToken(oidcToken: string): SentIdentityToken {
  const jws = parseCompactJws(compactForm(oidcToken));
  // Other kinds that an issuer signs with the same keys (`at+jwt`, `logout+jwt`) say so, and stand for no sign-in.
  if (jws.type !== undefined && jws.type.toLowerCase() !== "jwt") throw invalidToken("its `typ` is not `JWT`");
  return { jws, claims: readIdentityClaims(jws.payload) };
}

/** A compact token has dots, which base64 has not. */
function compactForm(oidcToken: string): string {
  if (oidcToken.includes(".")) return oidcToken;
  if (oidcToken.length > 2 * maxTokenLength) throw invalidToken("too long");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(fromBase64url(oidcToken));
  } catch (cause) {
    throw invalidToken("neither a compact JWT nor base64 of one", cause);
  }
}

/** The keys that the verdict on a token depends on: the one that it names, or two of several, which are one too many. */
export function findTokenKeys({ jws }: Pick<SentIdentityToken, "jws">, keys: readonly IssuerKey[]): IssuerKey[] {
  return keys.filter(({ kid }) => kid === jws.kid || jws.kid === undefined).slice(0, 2);
}

/**
 * Verifies the token with the keys of its issuer; throws `invalid_argument` for one that they refuse. Whose keys these are, and how old they
 * are, is the caller's to know.
 */
export function verifyWithKeys(
  crypto: TokenCrypto,
  { jws }: Pick<SentIdentityToken, "jws">,
  keys: readonly IssuerKey[],
): KeyVerdict {
  const [key, ...others] = findTokenKeys({ jws }, keys);
  if (key === undefined) return { kind: "unknown" };
  // Two keys under one name, or no name and several keys: whichever we took, another verifier might take the other.
  if (others.length > 0) throw invalidToken("it names no single key");
  if (key.algorithm !== jws.algorithm) throw invalidToken("its `alg` is not the one of its issuer's key");
  if (isSignedBy(crypto, key, jws)) return { kind: "verified", key };
  // Without a name this may be a key that the issuer has replaced.
  if (jws.kid === undefined) return { kind: "unknown" };
  throw invalidToken("its signature is not its issuer's");
}

/** Whether this key made the signature, by the key's own algorithm. */
export function isSignedBy(crypto: TokenCrypto, { algorithm, publicKey }: IssuerKey, jws: CompactJws): boolean {
  const { signed, signature } = jws;
  if (algorithm === "EdDSA") return crypto.verifyEd25519(publicKey, signed, signature);
  if (algorithm !== "ES256") return crypto.verifyRsa(algorithm, publicKey, signed, signature);
  try {
    return crypto.verifyP256(crypto.compressPoint("p256", publicKey), signed, signature);
  } catch {
    return false; // The point is not on the curve.
  }
}

/** Throws unless now is the token's time. */
export function checkIdentityToken({ claims }: SentIdentityToken, nowMs: number): void {
  checkTokenTime(claims, nowMs);
}

/**
 * Throws unless the token was issued for this key. Without this, anyone who sees a token could sign in with a key of their own.
 */
export function checkNonce(
  crypto: Pick<TokenCrypto, "sha256">,
  claims: Pick<IdentityClaims, "nonces">,
  publicKeyText: string,
): void {
  if (!isIssuedFor(crypto, claims, publicKeyText)) throw invalidToken("its nonce is not the hash of the public key");
}

/** Whether the nonce is the hash of the key's hex text, exactly as the request has it. */
export function isIssuedFor(
  { sha256 }: Pick<TokenCrypto, "sha256">,
  { nonces }: Pick<IdentityClaims, "nonces">,
  publicKeyText: string,
): boolean {
  return nonces.includes(toHex(sha256(new TextEncoder().encode(publicKeyText))));
}
