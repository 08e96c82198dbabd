/**
 * The arithmetic of private keys in plain JavaScript, for browsers, the SDK and tests. It passes through BigInts, which
 * nobody can wipe; that is one reason why the server brings its own.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { hmac } from "@noble/hashes/hmac.js";
import { pbkdf2 } from "@noble/hashes/pbkdf2.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import type { KeyMaths, PointMaths } from "./key_maths.ts";

function pointMaths(curve: typeof p256): PointMaths {
  const { Fn } = curve.Point;
  return {
    publicKey: (privateKey) => curve.getPublicKey(privateKey, false),
    addScalars(privateKey, offset) {
      const sum = Fn.add(Fn.fromBytes(privateKey), Fn.fromBytes(offset));
      return Fn.is0(sum) ? undefined : Fn.toBytes(sum);
    },
  };
}

/** The default wherever no other is at hand. */
export const nobleKeyMaths: KeyMaths = {
  sha256,
  hmacSha512: (key, message) => hmac(sha512, key, message),
  pbkdf2Sha512: (password, salt, rounds, length) => pbkdf2(sha512, password, salt, { c: rounds, dkLen: length }),
  secp256k1: {
    ...pointMaths(secp256k1),
    negateScalar(privateKey) {
      const { Fn } = secp256k1.Point;
      return Fn.toBytes(Fn.neg(Fn.fromBytes(privateKey)));
    },
  },
  p256: pointMaths(p256),
  ed25519: { publicKey: (seed) => ed25519.getPublicKey(seed) },
};
