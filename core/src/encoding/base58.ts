/**
 * Base58 and base58check, for addresses and credential bundles. Secrets do not come here: the text is a string. The
 * conversion is quadratic in the length, so reading is bounded; nothing on our wires comes near the bound.
 */

import { sha256 } from "@noble/hashes/sha2.js";
import { base58, base58xrp } from "@scure/base";
import { Fault } from "../fault.ts";

/** The letters differ between ledgers, the arithmetic does not. */
const alphabets = { bitcoin: base58, ripple: base58xrp };

export type Base58Alphabet = keyof typeof alphabets;

const longestText = 1024;
const checksumLength = 4;

function malformed(why: string, cause?: unknown): Fault {
  return new Fault("invalid_argument", `malformed base58: ${why}`, { cause });
}

/** Writes bytes as base58 without a checksum. */
export function toBase58(bytes: Uint8Array, alphabet: Base58Alphabet = "bitcoin"): string {
  return alphabets[alphabet].encode(bytes);
}

/** Reads base58 without a checksum; every text has one value and every value one text. */
export function fromBase58(text: string, alphabet: Base58Alphabet = "bitcoin"): Uint8Array {
  if (text.length > longestText) throw malformed("too long");
  try {
    return alphabets[alphabet].decode(text);
  } catch (cause) {
    throw malformed("a character outside the alphabet", cause);
  }
}

/** Writes bytes followed by the first four bytes of their double SHA-256. */
export function toBase58check(bytes: Uint8Array, alphabet: Base58Alphabet = "bitcoin"): string {
  const checked = new Uint8Array(bytes.length + checksumLength);
  checked.set(bytes);
  checked.set(checksum(bytes), bytes.length);
  return toBase58(checked, alphabet);
}

/** Reads what `toBase58check` wrote; a wrong checksum is refused. */
export function fromBase58check(text: string, alphabet: Base58Alphabet = "bitcoin"): Uint8Array {
  const checked = fromBase58(text, alphabet);
  const end = checked.length - checksumLength;
  if (end < 0) throw malformed("too short for a checksum");
  const bytes = checked.subarray(0, end);
  if (!checksum(bytes).every((byte, i) => byte === checked[end + i])) throw malformed("wrong checksum");
  return bytes;
}

function checksum(bytes: Uint8Array): Uint8Array {
  return sha256(sha256(bytes)).subarray(0, checksumLength);
}
