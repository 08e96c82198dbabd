/**
 * The arithmetic of private keys in the server: OpenSSL and libsecp256k1. Only sums of P-256 scalars go through noble,
 * because OpenSSL offers none; they pass through BigInts that cannot be wiped.
 */
import { createECDH, createHmac, createPrivateKey, createPublicKey, hash, pbkdf2Sync } from "node:crypto";
import type { KeyMaths } from "@keystead/core/keys/key_maths.ts";
import { nobleKeyMaths } from "@keystead/core/keys/noble_key_maths.ts";
import { pointFromScalar, privateAdd, privateNegate } from "tiny-secp256k1";

const plain = (buffer: Buffer): Uint8Array => new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const nodeKeyMaths: KeyMaths = {
  sha256: (bytes) => plain(hash("sha256", bytes, "buffer")),
  hmacSha512: (key, message) => plain(createHmac("sha512", key).update(message).digest()),
  pbkdf2Sha512: (password, salt, rounds, length) => plain(pbkdf2Sync(password, salt, rounds, length, "sha512")),
  secp256k1: {
    publicKey(privateKey) {
      const point = pointFromScalar(privateKey, false);
      if (point === null) throw new Error("no point");
      return point;
    },
    addScalars: (privateKey, offset) => privateAdd(privateKey, offset) ?? undefined,
    negateScalar: (privateKey) => privateNegate(privateKey),
  },
  p256: {
    publicKey(privateKey) {
      const ecdh = createECDH("prime256v1");
      ecdh.setPrivateKey(privateKey);
      return plain(ecdh.getPublicKey());
    },
    addScalars: nobleKeyMaths.p256.addScalars,
  },
  ed25519: {
    publicKey(seed) {
      const key = createPrivateKey({ key: asBuffer(seed), format: "raw-private", asymmetricKeyType: "ed25519" });
      return plain(createPublicKey(key).export({ format: "raw-public" }) as Buffer);
    },
  },
};
