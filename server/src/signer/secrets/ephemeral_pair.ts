/** The key pairs of one start of the signer. They are never stored: what they signed is of this process and no other. */
import { generateKeyPairSync, sign } from "node:crypto";

export type EphemeralPair = {
  /** Encryption ‖ signing, both uncompressed points of P-256. */
  readonly publicKey: Uint8Array;
  /** r ‖ s over SHA-256 of the bytes. */
  sign(message: Uint8Array): Uint8Array;
};

const pointLength = 65;

export function createEphemeralPair(): EphemeralPair {
  const [encryption, signing] = [newPair(), newPair()];
  return {
    publicKey: Uint8Array.of(...encryption.point, ...signing.point),
    sign: (message) => Uint8Array.from(sign("sha256", message, { key: signing.privateKey, dsaEncoding: "ieee-p1363" })),
  };
}

function newPair() {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = new Uint8Array(publicKey.export({ format: "der", type: "spki" }));
  return { privateKey, point: spki.subarray(spki.length - pointLength) };
}
