/**
 * The hashes and signature checks that Keystead needs, as one value that is passed in: the server brings OpenSSL and
 * libsecp256k1, the browser brings noble, and both must give the same verdict on every published vector. For Ed25519 they do
 * not, so only the server verifies it (decision 0037).
 */

import type { Rs256 } from "./rsa_public_key.ts";

/** The two curves whose points have a compressed form. */
export type PointCurve = "p256" | "secp256k1";

/** Verification answers false on any bad input, malformed keys and wrong lengths included; it never throws. */
export type Curves = Rs256 & {
  sha256(bytes: Uint8Array): Uint8Array;
  keccak256(bytes: Uint8Array): Uint8Array;
  /** ECDSA over SHA-256 of the message. Key: 33 bytes, compressed. Signature: r‖s; high s is accepted. */
  verifyP256(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** ECDSA over a digest of 32 bytes. Key: 33 bytes, compressed. Signature: r‖s; high s is accepted. */
  verifySecp256k1(publicKey: Uint8Array, digest: Uint8Array, signature: Uint8Array): boolean;
  /** PureEdDSA over the message itself. Weak keys and weak nonces (`isStrongEd25519Point`) verify nothing. */
  verifyEd25519(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** The 33-byte form of a point given in 33 or 65 bytes; throws `invalid_argument` unless it lies on the curve. */
  compressPoint(curve: PointCurve, publicKey: Uint8Array): Uint8Array;
  /** The 65-byte form of a P-256 point given in 33 bytes; throws `invalid_argument` unless it lies on the curve. */
  uncompressP256(publicKey: Uint8Array): Uint8Array;
};

/** All that reading a key takes. */
export type PointCompression = Pick<Curves, "compressPoint">;

/** What runs anywhere: all but Ed25519, and what only the server does for passkeys. */
export type PortableCurves = Omit<Curves, "verifyEd25519" | "verifyRs256" | "uncompressP256">;

/** Whether the first byte and the length announce one of the two SEC 1 forms that we take. */
export function isPointEncoding(bytes: Uint8Array): boolean {
  // OpenSSL would also take the hybrid forms 06 and 07 and the single zero byte that stands for infinity.
  if (bytes.length === 33) return bytes[0] === 2 || bytes[0] === 3;
  return bytes.length === 65 && bytes[0] === 4;
}
