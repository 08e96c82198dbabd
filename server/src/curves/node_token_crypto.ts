/** What verifying identity tokens takes, on OpenSSL. */
import { constants, createPublicKey, verify } from "node:crypto";
import type { RsaAlgorithm, TokenCrypto } from "@keystead/core/oidc/token_algorithms.ts";
import { nodeCurves } from "./node_curves.ts";

const pkcs1 = { padding: constants.RSA_PKCS1_PADDING };

const rsaOptions = {
  RS256: { hash: "sha256", ...pkcs1 },
  RS384: { hash: "sha384", ...pkcs1 },
  RS512: { hash: "sha512", ...pkcs1 },
  // The salt is as long as the hash, and the mask uses the same hash.
  PS256: {
    hash: "sha256",
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  },
} as const satisfies Record<RsaAlgorithm, { hash: string; padding: number; saltLength?: number }>;

export const nodeTokenCrypto: TokenCrypto = {
  sha256: nodeCurves.sha256,
  verifyP256: nodeCurves.verifyP256,
  verifyEd25519: nodeCurves.verifyEd25519,
  compressPoint: nodeCurves.compressPoint,
  verifyRsa(algorithm, publicKey, message, signature) {
    const { hash, ...options } = rsaOptions[algorithm];
    try {
      const spki = Buffer.from(publicKey.buffer, publicKey.byteOffset, publicKey.byteLength);
      const key = createPublicKey({ key: spki, format: "der", type: "spki" });
      const bits = key.asymmetricKeyType === "rsa" ? key.asymmetricKeyDetails?.modulusLength : undefined;
      // RFC 8017, section 8.1.2: OpenSSL takes a PSS signature without its leading zeros, which would be a second spelling.
      if (bits === undefined || signature.length !== Math.ceil(bits / 8)) return false;
      return verify(hash, message, { key, ...options }, signature);
    } catch {
      return false; // It throws on bytes that are no key.
    }
  },
};
