/**
 * Signing in the signer: secp256k1 by libsecp256k1, constant in time and wiping its inputs; Ed25519 by OpenSSL.
 * P-256 signs by noble: OpenSSL could make RFC 6979 nonces, but Node has no option that asks it to, and a random nonce
 * would give a repeated request another signature. There the scalar passes through BigInts that cannot be wiped.
 */
import { createPrivateKey, sign } from "node:crypto";
import { signNobleP256 } from "@keystead/core/crypto/noble_signing.ts";
import type { SigningMaths } from "@keystead/core/crypto/signing.ts";
import { signRecoverable, signSchnorr } from "tiny-secp256k1";
import { nodeKeyMaths } from "./node_key_maths.ts";

/** The signing of this process. */
export const nodeSigning: SigningMaths = {
  keys: nodeKeyMaths,
  ecdsa: {
    CURVE_SECP256K1(privateKey, digest) {
      const { signature, recoveryId } = signRecoverable(digest, privateKey);
      return { rs: signature, recoveryId };
    },
    CURVE_P256: signNobleP256,
  },
  ed25519(privateKey, message) {
    const seed = Buffer.from(privateKey.buffer, privateKey.byteOffset, privateKey.byteLength);
    const key = createPrivateKey({ key: seed, format: "raw-private", asymmetricKeyType: "ed25519" });
    // A plain array: Buffers slice, print and compare differently from other byte arrays.
    return Uint8Array.from(sign(null, message, key));
  },
  bip340: (privateKey, digest, aux) => signSchnorr(digest, privateKey, aux),
};
