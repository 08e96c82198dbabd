/**
 * The curves in plain JavaScript, for browsers and the SDK. Slower than the server's, with the same verdicts. There is no
 * Ed25519 verification: noble's accepts signatures that OpenSSL refuses (decision 0037).
 */
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { Fault } from "../fault.ts";
import { isPointEncoding, type PortableCurves } from "./curves.ts";

/** WebCrypto, OpenSSL and Go do not normalise s, so half of all honest signatures are high; noble's default differs. */
const ecdsa = { lowS: false, format: "compact" } as const;

const points = { p256: p256.Point, secp256k1: secp256k1.Point };

/** noble throws on malformed keys and signatures; for us those are signatures that do not verify. */
function holds(check: () => boolean): boolean {
  try {
    return check();
  } catch {
    return false;
  }
}

export const nobleCurves: PortableCurves = {
  sha256,
  keccak256: keccak_256,
  verifyP256(publicKey, message, signature) {
    if (publicKey.length !== 33 || signature.length !== 64) return false;
    return holds(() => p256.verify(signature, message, publicKey, { ...ecdsa, prehash: true }));
  },
  verifySecp256k1(publicKey, digest, signature) {
    if (publicKey.length !== 33 || digest.length !== 32 || signature.length !== 64) return false;
    return holds(() => secp256k1.verify(signature, digest, publicKey, { ...ecdsa, prehash: false }));
  },
  compressPoint(curve, publicKey) {
    if (!isPointEncoding(publicKey)) throw new Fault("invalid_argument", "malformed public key: not a point encoding");
    try {
      return points[curve].fromBytes(publicKey).toBytes(true);
    } catch (cause) {
      throw new Fault("invalid_argument", "malformed public key: not a point of its curve", { cause });
    }
  },
};
