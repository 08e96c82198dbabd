/**
 * HPKE's primitives on OpenSSL. Private keys are KeyObjects: their bytes lie outside the JavaScript heap and go with them.
 * What does come out as bytes (the agreed point, derived keys) is wiped by hpke.ts.
 */
import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  ECDH,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  sign,
} from "node:crypto";
import type { BundleSigner } from "@keystead/core/crypto/bundles.ts";
import { isPointEncoding } from "@keystead/core/crypto/curves.ts";
import type { HpkePrimitives } from "@keystead/core/crypto/hpke.ts";
import { Fault } from "@keystead/core/fault.ts";
import { checkPrivateKey } from "@keystead/core/keys/key_curves.ts";

const cipher = "aes-256-gcm";
const tagLength = 16;

/** HPKE as the signer runs it. */
export const nodeHpke: HpkePrimitives<KeyObject> = {
  generateKey: () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey,
  importKey(privateKey) {
    // OpenSSL takes zero, and numbers beyond the order, without a word.
    checkPrivateKey("CURVE_P256", privateKey);
    const key = asBuffer(privateKey);
    return createPrivateKey({ key, format: "raw-private", asymmetricKeyType: "ec", namedCurve: "P-256" });
  },
  exportKey: (key) => takeOver(key.export({ format: "raw-private" })),
  publicKey: (key) => plain(createPublicKey(key).export({ format: "raw-public", type: "uncompressed" })),
  uncompressPoint(publicKey) {
    if (!isPointEncoding(publicKey)) throw new Fault("invalid_argument", "malformed public key: not a point encoding");
    try {
      // Without an output encoding it returns a Buffer, whatever its type says.
      return plain(ECDH.convertKey(publicKey, "prime256v1", undefined, undefined, "uncompressed") as Buffer);
    } catch (cause) {
      throw new Fault("invalid_argument", "malformed public key: not a point of its curve", { cause });
    }
  },
  agree: (privateKey, publicKey) => takeOver(diffieHellman({ privateKey, publicKey: importPoint(publicKey) })),
  hkdf: (ikm, salt, info, length) => new Uint8Array(hkdfSync("sha256", ikm, salt, info, length)),
  encrypt(key, nonce, aad, plaintext) {
    const encryption = createCipheriv(cipher, key, nonce, { authTagLength: tagLength });
    encryption.setAAD(aad);
    const ciphertext = new Uint8Array(plaintext.length + tagLength);
    ciphertext.set(encryption.update(plaintext));
    encryption.final();
    ciphertext.set(encryption.getAuthTag(), plaintext.length);
    return ciphertext;
  },
  decrypt(key, nonce, aad, ciphertext) {
    const refusal = (cause?: unknown) => new Fault("invalid_argument", "a ciphertext does not open", { cause });
    const length = ciphertext.length - tagLength;
    if (length < 0) throw refusal();
    const decryption = createDecipheriv(cipher, key, nonce, { authTagLength: tagLength });
    decryption.setAAD(aad);
    decryption.setAuthTag(ciphertext.subarray(length));
    const plaintext = decryption.update(ciphertext.subarray(0, length));
    try {
      decryption.final();
    } catch (cause) {
      plaintext.fill(0);
      throw refusal(cause);
    }
    return takeOver(plaintext);
  },
};

/** Signs bundles with a service key. OpenSSL draws its own nonce: a bundle is never the same twice anyway. */
export function nodeBundleSigner(privateKey: KeyObject): BundleSigner {
  const key = { key: privateKey, dsaEncoding: "ieee-p1363" } as const;
  return { publicKey: nodeHpke.publicKey(privateKey), sign: (message) => plain(sign("sha256", message, key)) };
}

function importPoint(publicKey: Uint8Array): KeyObject {
  if (!isPointEncoding(publicKey)) throw new Fault("invalid_argument", "malformed public key: not a point encoding");
  try {
    const key = asBuffer(publicKey);
    return createPublicKey({ key, format: "raw-public", asymmetricKeyType: "ec", namedCurve: "P-256" });
  } catch (cause) {
    throw new Fault("invalid_argument", "malformed public key: not a point of its curve", { cause });
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

/** A copy of a secret that nothing else keeps: the Buffer may be a slice of a pool that others read. */
function takeOver(secret: Buffer): Uint8Array {
  const copy = Uint8Array.from(secret);
  secret.fill(0);
  return copy;
}
