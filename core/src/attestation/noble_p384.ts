/** P-384 in plain JavaScript. It signs deterministically (RFC 6979), which OpenSSL behind Node does not. */
import { p384 } from "@noble/curves/nist.js";
import { sha384 } from "@noble/hashes/sha2.js";
import { isP384Encoding, type P384, type P384Signer, p384SignatureLength } from "./p384.ts";

const ecdsa = { lowS: false, prehash: true, format: "compact" } as const;

export const nobleP384: P384 = {
  sha384,
  verifyP384(publicKey, message, signature) {
    if (!isP384Encoding(publicKey) || signature.length !== p384SignatureLength) return false;
    try {
      return p384.verify(signature, message, publicKey, ecdsa);
    } catch {
      return false; // It throws on points off the curve.
    }
  },
};

/** The same message gives the same signature, always and everywhere. Who knows the public key saves making it again. */
export function nobleP384Signer(
  privateKey: Uint8Array,
  publicKey: Uint8Array = p384.getPublicKey(privateKey, false),
): P384Signer {
  // A start signs once with it. Without this, noble first makes tables for 60 ms that pay only for many signatures.
  p384.Point.BASE.precompute(1, true);
  return {
    publicKey,
    sign: (message) => p384.sign(message, privateKey, ecdsa),
  };
}

export function isP384PrivateKey(bytes: Uint8Array): boolean {
  return p384.utils.isValidSecretKey(bytes);
}
