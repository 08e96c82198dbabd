/** What attestation needs of P-384, as values that are passed in: OpenSSL in the server, noble elsewhere. */
export type P384 = {
  sha384(bytes: Uint8Array): Uint8Array;
  /** ECDSA over SHA-384 of the message. Key: 97 bytes, uncompressed. Signature: r‖s, 96 bytes. False on any bad input; never throws. */
  verifyP384(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
};

export type P384Signer = {
  /** 97 bytes: the uncompressed point. */
  publicKey: Uint8Array;
  /** ECDSA over SHA-384 of the message: r‖s, 96 bytes. */
  sign(message: Uint8Array): Uint8Array;
};

export const p384KeyLength = 97;
export const p384SignatureLength = 96;

/** Whether this can be a key: compressed and hybrid points are refused, so that a key has one spelling. */
export function isP384Encoding(publicKey: Uint8Array): boolean {
  return publicKey.length === p384KeyLength && publicKey[0] === 4;
}
