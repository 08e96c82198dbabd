/** The three curves a wallet account or private key can be on, and what a private key must be on each. */
import { fromHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import type { KeyMaths } from "./key_maths.ts";

/** In the order of their numbers in stored records: only ever added to at the end. */
export const curveNames = ["CURVE_SECP256K1", "CURVE_P256", "CURVE_ED25519"] as const;

export type Curve = (typeof curveNames)[number];

/** How a digest or message is signed. The address format chooses; without one, the curve does. */
export type SignatureScheme = "ecdsa" | "ed25519" | "bip340" | "bip340_taproot";

/** A public key in both forms the wire shows. An Ed25519 key has one form, which then stands in both places. */
export type PublicKey = {
  /** 33 bytes, or 32 on Ed25519: what wallet accounts show. */
  compressed: Uint8Array;
  /** 65 bytes, or 32 on Ed25519: what private keys show. */
  uncompressed: Uint8Array;
};

export type CurveRow = {
  /** Which part of `KeyMaths` does the sums; undefined where every 32 bytes are a key and keys are never added. */
  points: "secp256k1" | "p256" | undefined;
  /** n, big-endian: private keys lie in [1, n - 1]. */
  order: Uint8Array | undefined;
  /** The HMAC key that turns a seed into the master key (BIP-32, SLIP-10). */
  masterSecret: Uint8Array;
  /** What to do in the one case in 2^127 where the standard's sum is no key: SLIP-10 goes on, BIP-32 has no such child. */
  whenNoKey: "retry" | "refuse";
  scheme: SignatureScheme;
};

const ascii = new TextEncoder();

/** One row per `curve` of the wire. */
export const keyCurves = {
  CURVE_SECP256K1: {
    points: "secp256k1",
    order: fromHex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"),
    masterSecret: ascii.encode("Bitcoin seed"),
    whenNoKey: "refuse",
    scheme: "ecdsa",
  },
  CURVE_P256: {
    points: "p256",
    order: fromHex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"),
    masterSecret: ascii.encode("Nist256p1 seed"),
    whenNoKey: "retry",
    scheme: "ecdsa",
  },
  CURVE_ED25519: {
    points: undefined,
    order: undefined,
    masterSecret: ascii.encode("ed25519 seed"),
    whenNoKey: "retry",
    scheme: "ed25519",
  },
} as const satisfies Record<Curve, CurveRow>;

/** All three have keys of this many bytes; an Ed25519 key is its seed, never the 64-byte form of some libraries. */
export const privateKeyLength = 32;

/** The row of a curve that a client named; refuses with the published text, and then with the curves there are. */
export function getKeyCurve(name: string): CurveRow {
  if (!Object.hasOwn(keyCurves, name)) {
    throw new Fault("invalid_argument", `invalid curve: use one of ${Object.keys(keyCurves).join(", ")}`);
  }
  return keyCurves[name as Curve];
}

/** Whether 32 bytes say less than n. The comparison takes the same time for every key. */
export function isBelowOrder(bytes: Uint8Array, order: Uint8Array): boolean {
  let borrow = 0;
  for (let i = bytes.length - 1; i >= 0; i--) borrow = ((bytes[i] ?? 0) - (order[i] ?? 0) - borrow) >>> 31;
  return borrow === 1;
}

/** Whether these bytes are a private key of the curve: 32 of them, and in [1, n - 1] where there is an n. */
export function isPrivateKey(curve: Curve, bytes: Uint8Array): boolean {
  const { order } = keyCurves[curve];
  if (bytes.length !== privateKeyLength) return false;
  if (order === undefined) return true;
  let seen = 0;
  for (const byte of bytes) seen |= byte;
  return seen !== 0 && isBelowOrder(bytes, order);
}

/** Refuses bytes that are no private key of the curve, without saying anything about them. */
export function checkPrivateKey(curve: Curve, bytes: Uint8Array): void {
  if (bytes.length !== privateKeyLength) throw new Fault("invalid_argument", "invalid private key: expected 32 bytes");
  if (!isPrivateKey(curve, bytes)) throw new Fault("invalid_argument", "invalid private key: not in the curve's range");
}

/** A fresh private key from the caller's randomness; bytes that are no key are drawn again. */
export function generatePrivateKey(curve: Curve, randomBytes: (length: number) => Uint8Array): Uint8Array {
  for (;;) {
    const bytes = randomBytes(privateKeyLength);
    if (isPrivateKey(curve, bytes)) return bytes;
    bytes.fill(0);
  }
}

/** The public key of a private key that `isPrivateKey`. */
export function publicKeyOf(maths: KeyMaths, curve: Curve, privateKey: Uint8Array): PublicKey {
  const { points } = keyCurves[curve];
  if (points === undefined) {
    const key = maths.ed25519.publicKey(privateKey);
    return { compressed: key, uncompressed: key };
  }
  const uncompressed = maths[points].publicKey(privateKey);
  return { compressed: compressed(uncompressed), uncompressed };
}

/** SEC 1's short form of a 65-byte point: x, after a byte that says whether y is odd. */
function compressed(point: Uint8Array): Uint8Array<ArrayBuffer> {
  const short = Uint8Array.from(point.subarray(0, 33));
  short[0] = 2 | ((point[64] ?? 0) & 1);
  return short;
}
