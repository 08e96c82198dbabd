/**
 * Signing in plain JavaScript, for browsers, the CLI and as a second opinion in tests. Scalars become BigInts in here,
 * which nobody can wipe; the signer's own implementation avoids that where it can.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { nobleKeyMaths } from "../keys/noble_key_maths.ts";
import type { RecoverableRs, SigningMaths } from "./signing.ts";

export const nobleSigning: SigningMaths = {
  keys: nobleKeyMaths,
  ecdsa: {
    CURVE_SECP256K1: (privateKey, digest) => signEcdsa(secp256k1, privateKey, digest),
    CURVE_P256: signNobleP256,
  },
  ed25519: (privateKey, message) => ed25519.sign(message, privateKey),
  bip340: (privateKey, digest, aux) => schnorr.sign(digest, privateKey, aux),
};

/** Also the signer's, for lack of a native one with deterministic nonces. */
export function signNobleP256(privateKey: Uint8Array, digest: Uint8Array): RecoverableRs {
  return signEcdsa(p256, privateKey, digest);
}

function signEcdsa(curve: typeof p256, privateKey: Uint8Array, digest: Uint8Array): RecoverableRs {
  // noble's P-256 leaves s as it falls unless told.
  const signature = curve.sign(digest, privateKey, { prehash: false, lowS: true, format: "recovered" });
  return { rs: signature.subarray(1), recoveryId: signature[0] ?? 0 };
}
