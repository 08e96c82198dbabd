/**
 * The arithmetic that touches private keys, as one value that is passed in: the server brings OpenSSL and libsecp256k1,
 * everything else noble. Both must give the same bytes on every published vector (`test/key_maths_contract.ts`).
 * Nothing here is kept: inputs belong to the caller, outputs are fresh and the caller's to wipe.
 */

/** Sums on a curve of prime order n. */
export type PointMaths = {
  /** The public key, 65 bytes, of a private key in [1, n - 1]. */
  publicKey(privateKey: Uint8Array): Uint8Array;
  /** (privateKey + offset) mod n for an offset in [0, n - 1]; undefined when that is zero. */
  addScalars(privateKey: Uint8Array, offset: Uint8Array): Uint8Array | undefined;
};

export type KeyMaths = {
  sha256(bytes: Uint8Array): Uint8Array;
  hmacSha512(key: Uint8Array, message: Uint8Array): Uint8Array;
  pbkdf2Sha512(password: Uint8Array, salt: Uint8Array, rounds: number, length: number): Uint8Array;
  /** `negateScalar` gives n - privateKey, which Taproot needs for keys whose point has an odd y. */
  secp256k1: PointMaths & { negateScalar(privateKey: Uint8Array): Uint8Array };
  p256: PointMaths;
  /** The public key, 32 bytes, of an RFC 8032 seed. */
  ed25519: { publicKey(seed: Uint8Array): Uint8Array };
};
