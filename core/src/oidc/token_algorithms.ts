/**
 * The signature algorithms of identity tokens. A key has exactly one: the one its issuer publishes with it, or the usual one of its type. A
 * token cannot choose, so no token is verified in a way that its issuer does not sign.
 */
import type { Curves } from "../crypto/curves.ts";

/** One row per algorithm: what keys it goes with. */
export const tokenAlgorithms = {
  RS256: { keyType: "RSA" },
  RS384: { keyType: "RSA" },
  RS512: { keyType: "RSA" },
  PS256: { keyType: "RSA" },
  ES256: { keyType: "EC" },
  EdDSA: { keyType: "OKP" },
} as const satisfies Record<string, { keyType: KeyType }>;

export type TokenAlgorithm = keyof typeof tokenAlgorithms;
export type RsaAlgorithm = "RS256" | "RS384" | "RS512" | "PS256";
export type KeyType = "RSA" | "EC" | "OKP";

/** Of keys that are published without `alg`. */
export const usualAlgorithms = { RSA: "RS256", EC: "ES256", OKP: "EdDSA" } as const satisfies Record<
  KeyType,
  TokenAlgorithm
>;

/** What verifying tokens takes. Every check answers false on bad input and never throws. */
export type TokenCrypto = Pick<Curves, "sha256" | "verifyP256" | "verifyEd25519" | "compressPoint"> & {
  /** Key: as `toSpki` writes it. PS256 has a salt of 32 bytes (RFC 7518, section 3.5). */
  verifyRsa(algorithm: RsaAlgorithm, publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
};

export function isTokenAlgorithm(text: unknown): text is TokenAlgorithm {
  return typeof text === "string" && Object.hasOwn(tokenAlgorithms, text);
}
