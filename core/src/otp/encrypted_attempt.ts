/** An answer to a code as clients send it: the code and the key that a token is to be bound to, encrypted to the code's target key. */
import { parseEncryptedBundle } from "../crypto/bundles.ts";
import { type HpkePrimitives, openMessage } from "../crypto/hpke.ts";
import { fromHex } from "../encoding/hex.ts";
import { readJson } from "../encoding/json.ts";
import { Fault } from "../fault.ts";

export type OtpAttempt = {
  /** As it was typed. */
  code: string;
  /** Compressed, lower-case hex: a point of P-256. */
  publicKey: string;
};

/** A code and a key take 120 bytes; what later clients may add has to fit as well. */
const maxPlaintextBytes = 1_024;

/** Compressed: clients send no other form, and the claim of the token has it. */
const compressedPoint = /^0[23][0-9a-f]{64}$/i;

/**
 * Opens an `encryptedOtpBundle`; undefined for everything that is not one for this key. The caller answers that like a wrong code: who
 * sends it has used up an attempt.
 */
export function openEncryptedAttempt<Key>(
  primitives: HpkePrimitives<Key>,
  targetKey: Key,
  encryptedOtpBundle: string,
): OtpAttempt | undefined {
  try {
    const { enc, ciphertext } = parseEncryptedBundle(encryptedOtpBundle, maxPlaintextBytes);
    const plaintext = openMessage(primitives, targetKey, enc, ciphertext);
    try {
      return readAttempt(primitives, plaintext);
    } finally {
      plaintext.fill(0);
    }
  } catch (error) {
    if (error instanceof Fault && error.code === "invalid_argument") return undefined;
    throw error;
  }
}

/** Exactly the two keys: what is signed by nobody is read strictly. */
function readAttempt(
  { uncompressPoint }: Pick<HpkePrimitives<unknown>, "uncompressPoint">,
  plaintext: Uint8Array,
): OtpAttempt {
  const value = readJson(plaintext, maxPlaintextBytes);
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw malformed();
  const { otp_code: code, public_key: publicKey, ...others } = value as Record<string, unknown>;
  if (typeof code !== "string" || typeof publicKey !== "string" || Object.keys(others).length > 0) throw malformed();
  if (!compressedPoint.test(publicKey)) throw malformed();
  uncompressPoint(fromHex(publicKey));
  return { code, publicKey: publicKey.toLowerCase() };
}

function malformed(): Fault {
  return new Fault("invalid_argument", "malformed attempt");
}
