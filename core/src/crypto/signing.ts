/**
 * Signing with users' private keys. One row per scheme says what it takes and what it gives; the maths behind the rows is
 * passed in, as with `Curves`: libsecp256k1 and OpenSSL in the signer, noble elsewhere, with the same bytes as result.
 * Every scheme is deterministic: a repeated request gets the same signature, and no nonce depends on luck.
 */
import { toHex } from "../encoding/hex.ts";
import { Fault } from "../fault.ts";
import { taprootPrivateKey } from "../keys/addresses/taproot.ts";
import { type Curve, isPrivateKey, publicKeyOf, type SignatureScheme } from "../keys/key_curves.ts";
import type { KeyMaths } from "../keys/key_maths.ts";

/** Both numbers in 32 bytes; `yParity` tells which key signed, and is 0 where the scheme has no such question. */
export type Signature = { r: Uint8Array; s: Uint8Array; yParity: 0 | 1 };

/** The curves on which ECDSA signs. */
export type EcdsaCurve = Exclude<Curve, "CURVE_ED25519">;

/** 64 bytes, and the number of the public key among the four that a signature could belong to. */
export type RecoverableRs = { rs: Uint8Array; recoveryId: number };

/** What signing needs from a platform. Keys are checked (`isPrivateKey`) and digests have 32 bytes when they come here. */
export type SigningMaths = {
  keys: KeyMaths;
  /** RFC 6979 with SHA-256 and nothing added; s is the lower of the two. */
  ecdsa: Readonly<Record<EcdsaCurve, (privateKey: Uint8Array, digest: Uint8Array) => RecoverableRs>>;
  ed25519(privateKey: Uint8Array, message: Uint8Array): Uint8Array;
  bip340(privateKey: Uint8Array, digest: Uint8Array, aux: Uint8Array): Uint8Array;
};

export type SignatureSchemeRow = {
  /** What it signs: a digest of 32 bytes, or a message of any length that it hashes itself. */
  takes: "digest" | "message";
  sign(maths: SigningMaths, curve: Curve, privateKey: Uint8Array, bytes: Uint8Array): Signature;
};

/**
 * BIP-340 recommends fresh randomness against side channels and names zeros as the deterministic choice. We take zeros:
 * plain signing leaves no state behind, so that a request sent twice must give the same bytes twice.
 */
const bip340Aux = new Uint8Array(32);

/** One row per scheme. */
export const signatureSchemes = {
  ecdsa: {
    takes: "digest",
    sign(maths, curve, privateKey, digest) {
      if (curve === "CURVE_ED25519") throw mismatch();
      const { rs, recoveryId } = maths.ecdsa[curve](privateKey, digest);
      return toSignature(rs, recoveryId);
    },
  },
  ed25519: {
    takes: "message",
    sign(maths, curve, privateKey, message) {
      if (curve !== "CURVE_ED25519") throw mismatch();
      return toSignature(maths.ed25519(privateKey, message), 0);
    },
  },
  bip340: {
    takes: "digest",
    sign(maths, curve, privateKey, digest) {
      if (curve !== "CURVE_SECP256K1") throw mismatch();
      return toSignature(maths.bip340(privateKey, digest, bip340Aux), 0);
    },
  },
  /** Under the output key that the address shows: BIP-341 without a script tree, as in BIP-86. */
  bip340_taproot: {
    takes: "digest",
    sign(maths, curve, privateKey, digest) {
      if (curve !== "CURVE_SECP256K1") throw mismatch();
      const tweaked = taprootPrivateKey(maths.keys, privateKey, publicKeyOf(maths.keys, curve, privateKey).compressed);
      try {
        return toSignature(maths.bip340(tweaked, digest, bip340Aux), 0);
      } finally {
        tweaked.fill(0);
      }
    },
  },
} as const satisfies Record<SignatureScheme, SignatureSchemeRow>;

/** Signs `bytes` as the scheme takes them; a digest of the wrong length gets the published refusal. */
export function signBytes(
  maths: SigningMaths,
  scheme: SignatureScheme,
  curve: Curve,
  privateKey: Uint8Array,
  bytes: Uint8Array,
): Signature {
  const row: SignatureSchemeRow = signatureSchemes[scheme];
  if (!isPrivateKey(curve, privateKey)) throw new Fault("internal", "a private key outside its curve");
  checkDigest(row, bytes);
  return row.sign(maths, curve, privateKey, bytes);
}

/** Refuses what a scheme that signs digests cannot take: the published text, and then what to do. */
export function checkDigest({ takes }: SignatureSchemeRow, bytes: Uint8Array): void {
  if (takes === "digest" && bytes.length !== 32) {
    throw new Fault(
      "invalid_argument",
      "expected a 32-bytes-long digest: hash the payload first, or choose HASH_FUNCTION_SHA256 or HASH_FUNCTION_KECCAK256",
    );
  }
}

function mismatch(): Fault {
  return new Fault("internal", "a signature scheme of another curve");
}

function toSignature(rs: Uint8Array, recoveryId: number): Signature {
  // The numbers 2 and 3 need a nonce whose point lies in the last 2^-127 of the field (P-256: 2^-96).
  if (rs.length !== 64 || (recoveryId !== 0 && recoveryId !== 1)) throw new Fault("internal", "a misshapen signature");
  return { r: rs.subarray(0, 32), s: rs.subarray(32), yParity: recoveryId };
}

/** A signature as the wire has it: 64 digits each, leading zeros kept, and one byte. */
export type WireSignature = { r: string; s: string; v: string };

/** `v` is `00` or `01`: clients add 27 themselves. */
export function toWireSignature({ r, s, yParity }: Signature): WireSignature {
  return { r: toHex(r), s: toHex(s), v: toHex(Uint8Array.of(yParity)) };
}
