/** The key pairs of one start of the signer. They are never stored: what they signed is of this process and no other. */
import { generateKeyPairSync } from "node:crypto";
import { signNobleP256 } from "@keystead/core/crypto/noble_signing.ts";
import { sha256 } from "../../state/digest.ts";

export type EphemeralPair = {
  /** Encryption ‖ signing, both uncompressed points of P-256. */
  readonly publicKey: Uint8Array;
  /** r ‖ s over SHA-256 of the bytes, with the nonce of RFC 6979: the same bytes have one signature. */
  sign(message: Uint8Array): Uint8Array;
};

const pointLength = 65;

export function createEphemeralPair(): EphemeralPair {
  const [encryption, signing] = [newPair(), newPair()];
  return {
    publicKey: Uint8Array.of(...encryption.point, ...signing.point),
    sign: (message) => signNobleP256(signing.scalar, sha256(message)).rs,
  };
}

function newPair(): { scalar: Uint8Array; point: Uint8Array } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const spki = new Uint8Array(publicKey.export({ format: "der", type: "spki" }));
  const { d = "" } = privateKey.export({ format: "jwk" });
  return { scalar: new Uint8Array(Buffer.from(d, "base64url")), point: spki.slice(spki.length - pointLength) };
}
