/** Signatures by passkeys. The bytes of a stored key say which algorithm it is for, so the two can never be mixed up. */
import { type Curves, isPointEncoding } from "../crypto/curves.ts";
import type { Rs256 } from "../crypto/rsa_public_key.ts";
import { parseStrictEcdsaDer } from "../encoding/der.ts";
import { Fault } from "../fault.ts";
import type { PasskeyAlgorithm } from "./cose_key.ts";

/** The hash and the signature checks that passkeys take. */
export type PasskeyCrypto = Pick<Curves, "sha256" | "verifyP256" | "compressPoint"> & Rs256;

/** The first byte of every DER sequence; points begin with 02 or 03. */
const sequenceTag = 0x30;

/** The algorithm of a key in its stored form, or undefined if it has none. */
export function algorithmOf(publicKey: Uint8Array): PasskeyAlgorithm | undefined {
  if (publicKey.length === 33 && isPointEncoding(publicKey)) return "ES256";
  return publicKey[0] === sequenceTag ? "RS256" : undefined;
}

/** Whether the stored key signed this message. ES256 signatures are strict DER; both algorithms hash with SHA-256. */
export function verifyPasskeySignature(
  crypto: PasskeyCrypto,
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  const algorithm = algorithmOf(publicKey);
  if (algorithm === "RS256") return crypto.verifyRs256(publicKey, message, signature);
  if (algorithm === undefined) return false;
  const rs = readDer(signature);
  return rs !== undefined && crypto.verifyP256(publicKey, message, rs);
}

function readDer(signature: Uint8Array): Uint8Array | undefined {
  try {
    return parseStrictEcdsaDer(signature);
  } catch (error) {
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

/** What an authenticator signs, in assertions and in self-attestations: its data, and the hash of the client's. */
export function signedMessage(
  { sha256 }: Pick<Curves, "sha256">,
  authenticatorData: Uint8Array,
  clientDataJson: Uint8Array,
): Uint8Array {
  const message = new Uint8Array(authenticatorData.length + 32);
  message.set(authenticatorData);
  message.set(sha256(clientDataJson), authenticatorData.length);
  return message;
}
