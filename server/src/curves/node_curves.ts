/**
 * The curves of the server: OpenSSL through node:crypto, and libsecp256k1 (WASM) for secp256k1, where it is faster than
 * OpenSSL (270 µs against 360). Importing a compressed P-256 key in the cheapest form that Node has costs most of a
 * verification again (64 µs against 90), so imported keys are kept.
 */
import { constants, createPublicKey, ECDH, getHashes, hash, type KeyObject, verify } from "node:crypto";
import { type Curves, isPointEncoding, type PointCurve } from "@keystead/core/crypto/curves.ts";
import { isStrongEd25519Point } from "@keystead/core/crypto/ed25519_key.ts";
import { Fault } from "@keystead/core/fault.ts";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { pointCompress, verify as verifyEcdsaSecp256k1 } from "tiny-secp256k1";

/**
 * OpenSSL has it from 3.2 on, and takes three milliseconds for a megabyte that is stamped or signed under it, where a library in
 * JavaScript keeps everybody waiting for fifty.
 */
const keccak256 = getHashes().includes("keccak-256")
  ? (bytes: Uint8Array) => plain(hash("keccak-256", bytes, "buffer"))
  : keccak_256;

/** A kept key holds about 4 KiB, mostly in OpenSSL: 10,000 of them are 40 MB. */
const defaultKeptKeys = 10_000;

type P256Key = { key: KeyObject; dsaEncoding: "ieee-p1363" };

/** Makes the server's curves; `keptKeys` bounds how many imported P-256 keys stay in memory. */
export function createNodeCurves(keptKeys: number = defaultKeptKeys): Curves {
  const findP256Key = keepRecent(keptKeys, importP256);
  return {
    sha256: (bytes) => plain(hash("sha256", bytes, "buffer")),
    keccak256,
    verifyP256(publicKey, message, signature) {
      if (publicKey.length !== 33 || signature.length !== 64) return false;
      const key = findP256Key(publicKey);
      return key !== undefined && verify("sha256", message, key, signature);
    },
    verifySecp256k1(publicKey, digest, signature) {
      if (publicKey.length !== 33 || digest.length !== 32 || signature.length !== 64) return false;
      try {
        return verifyEcdsaSecp256k1(digest, publicKey, signature, false);
      } catch {
        return false; // It throws on points off the curve and on r or s of n and more.
      }
    },
    verifyEd25519(publicKey, message, signature) {
      if (signature.length !== 64) return false;
      // OpenSSL 3.5 refuses nonces of small order and 3.0 does not: two hosts must not judge one stamp differently.
      if (!isStrongEd25519Point(publicKey) || !isStrongEd25519Point(signature.subarray(0, 32))) return false;
      const key = createPublicKey({ key: asBuffer(publicKey), format: "raw-public", asymmetricKeyType: "ed25519" });
      return verify(null, message, key, signature);
    },
    verifyRs256(publicKey, message, signature) {
      try {
        const key = createPublicKey({ key: asBuffer(publicKey), format: "der", type: "spki" });
        if (key.asymmetricKeyType !== "rsa") return false;
        return verify("sha256", message, { key, padding: constants.RSA_PKCS1_PADDING }, signature);
      } catch {
        return false; // It throws on bytes that are no key.
      }
    },
    uncompressP256(publicKey) {
      try {
        return plain(
          ECDH.convertKey(publicKey, "prime256v1", undefined, undefined, "uncompressed") as unknown as Buffer,
        );
      } catch (cause) {
        throw new Fault("invalid_argument", "malformed public key: not a point of its curve", { cause });
      }
    },
    compressPoint(curve, publicKey) {
      if (!isPointEncoding(publicKey)) {
        throw new Fault("invalid_argument", "malformed public key: not a point encoding");
      }
      try {
        return compress[curve](publicKey);
      } catch (cause) {
        throw new Fault("invalid_argument", "malformed public key: not a point of its curve", { cause });
      }
    },
  };
}

/** The curves of this process. */
export const nodeCurves: Curves = createNodeCurves();

const compress: Record<PointCurve, (point: Uint8Array) => Uint8Array> = {
  // Without an output encoding it returns a Buffer, whatever its type says.
  p256: (point) => plain(ECDH.convertKey(point, "prime256v1", undefined, undefined, "compressed") as Buffer),
  secp256k1: (point) => pointCompress(point, true),
};

function importP256(publicKey: Uint8Array): P256Key | undefined {
  if (!isPointEncoding(publicKey)) return undefined;
  try {
    const key = asBuffer(publicKey);
    const raw = { key, format: "raw-public", asymmetricKeyType: "ec", namedCurve: "P-256" } as const;
    return { key: createPublicKey(raw), dsaEncoding: "ieee-p1363" };
  } catch {
    return undefined;
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Buffers slice, print and compare differently from other byte arrays: none leaves this file. */
function plain(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

type Find<T> = (bytes: Uint8Array) => T | undefined;

/**
 * Remembers at most `limit` results of `make`, and of those used last at least half as many. Failures are not kept: they would
 * push out real keys. Nothing is deleted singly: deleting and adding with each use makes a Map copy itself again and again.
 */
function keepRecent<T>(limit: number, make: Find<T>): Find<T> {
  let young = new Map<string, T>();
  let old = new Map<string, T>();
  return (bytes) => {
    const name = bytes.toHex();
    const known = young.get(name);
    if (known !== undefined) return known;
    const value = old.get(name) ?? make(bytes);
    if (value === undefined) return undefined;
    if (young.size >= limit / 2) [old, young] = [young, new Map()];
    young.set(name, value);
    return value;
  };
}
