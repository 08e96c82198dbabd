/**
 * HPKE's primitives for browsers and the SDK: the curve and HKDF by noble, AES by the platform's WebCrypto, which is why
 * its results are promises. The private key is a plain byte array: whoever holds it may wipe it.
 */
import { p256 } from "@noble/curves/nist.js";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { Fault } from "../fault.ts";
import { checkPrivateKey } from "../keys/key_curves.ts";
import { isPointEncoding } from "./curves.ts";
import type { HpkePrimitives } from "./hpke.ts";

type AesGcmParams = { name: "AES-GCM"; iv: Uint8Array<ArrayBuffer>; additionalData: Uint8Array<ArrayBuffer> };

/** The part of `crypto.subtle` that is needed, as far as this file has to know it. */
export type AesGcm<CryptoKey> = {
  importKey(
    format: "raw",
    key: Uint8Array<ArrayBuffer>,
    algorithm: "AES-GCM",
    extractable: boolean,
    usages: ("encrypt" | "decrypt")[],
  ): Promise<CryptoKey>;
  encrypt(params: AesGcmParams, key: CryptoKey, data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
  decrypt(params: AesGcmParams, key: CryptoKey, data: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer>;
};

/** Makes the primitives; pass `crypto.subtle`. */
export function createWebHpke<CryptoKey>(subtle: AesGcm<CryptoKey>): HpkePrimitives<Uint8Array, Promise<Uint8Array>> {
  return {
    generateKey: () => p256.utils.randomSecretKey(),
    importKey(privateKey) {
      checkPrivateKey("CURVE_P256", privateKey);
      return Uint8Array.from(privateKey);
    },
    exportKey: (key) => Uint8Array.from(key),
    publicKey: (key) => p256.getPublicKey(key, false),
    uncompressPoint: (publicKey) => readPoint(publicKey).toBytes(false),
    agree: (key, publicKey) => p256.getSharedSecret(key, readPoint(publicKey).toBytes(true), true).slice(1),
    hkdf: (ikm, salt, info, length) => hkdf(sha256, ikm, salt, info, length),
    async encrypt(key, nonce, aad, plaintext) {
      // Its bytes are copied before the first await, so the caller may wipe them.
      const aesKey = await subtle.importKey("raw", Uint8Array.from(key), "AES-GCM", false, ["encrypt"]);
      return new Uint8Array(await subtle.encrypt(paramsOf(nonce, aad), aesKey, Uint8Array.from(plaintext)));
    },
    async decrypt(key, nonce, aad, ciphertext) {
      const aesKey = await subtle.importKey("raw", Uint8Array.from(key), "AES-GCM", false, ["decrypt"]);
      try {
        return new Uint8Array(await subtle.decrypt(paramsOf(nonce, aad), aesKey, Uint8Array.from(ciphertext)));
      } catch (cause) {
        throw new Fault("invalid_argument", "a ciphertext does not open", { cause });
      }
    },
  };
}

function paramsOf(nonce: Uint8Array, aad: Uint8Array): AesGcmParams {
  return { name: "AES-GCM", iv: Uint8Array.from(nonce), additionalData: Uint8Array.from(aad) };
}

function readPoint(publicKey: Uint8Array): InstanceType<typeof p256.Point> {
  if (!isPointEncoding(publicKey)) throw new Fault("invalid_argument", "malformed public key: not a point encoding");
  try {
    return p256.Point.fromBytes(publicKey);
  } catch (cause) {
    throw new Fault("invalid_argument", "malformed public key: not a point of its curve", { cause });
  }
}
