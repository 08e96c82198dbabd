/** P-384 of the server: OpenSSL through node:crypto. */
import { createPublicKey, hash, type KeyObject, sign, verify } from "node:crypto";
import { isP384Encoding, type P384, type P384Signer, p384KeyLength } from "@keystead/core/attestation/p384.ts";

export const nodeP384: P384 = {
  sha384: (bytes) => new Uint8Array(hash("sha384", bytes, "buffer")),
  verifyP384(publicKey, message, signature) {
    if (!isP384Encoding(publicKey) || signature.length !== 96) return false;
    try {
      const raw = Buffer.from(publicKey.buffer, publicKey.byteOffset, publicKey.byteLength);
      const key = createPublicKey({ key: raw, format: "raw-public", asymmetricKeyType: "ec", namedCurve: "P-384" });
      return verify("sha384", message, { key, dsaEncoding: "ieee-p1363" }, signature);
    } catch {
      return false; // It throws on points off the curve.
    }
  },
};

/** Signs with a random nonce: two signatures of one message differ. */
export function nodeP384Signer(privateKey: KeyObject): P384Signer {
  const spki = new Uint8Array(createPublicKey(privateKey).export({ format: "der", type: "spki" }));
  return {
    publicKey: spki.subarray(spki.length - p384KeyLength),
    sign: (message) => new Uint8Array(sign("sha384", message, { key: privateKey, dsaEncoding: "ieee-p1363" })),
  };
}
