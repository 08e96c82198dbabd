/**
 * Bech32 (BIP-173) and bech32m (BIP-350) over bytes, and the SegWit addresses made of them. A text is wholly lower or
 * wholly upper case; we write lower.
 */
import { bech32, bech32m } from "@scure/base";
import { Fault } from "../fault.ts";

const variants = { bech32, bech32m };

export type Bech32Variant = keyof typeof variants;

/** BIP-173's bound. Some ledgers write longer texts with the same checksum; it just detects less there. */
const longestStandard = 90;

/** Far above any address, so that a hostile text costs nothing. */
const longestText = 1024;

function malformed(why: string, cause?: unknown): Fault {
  return new Fault("invalid_argument", `malformed bech32: ${why}`, { cause });
}

/** Writes bytes under a human-readable part. */
export function toBech32(variant: Bech32Variant, prefix: string, bytes: Uint8Array): string {
  const coder = variants[variant];
  return coder.encode(prefix, coder.toWords(bytes), longestText);
}

/** Reads bytes under exactly this human-readable part; leftover bits must be zero. */
export function fromBech32(variant: Bech32Variant, prefix: string, text: string): Uint8Array {
  const words = readWords(variant, prefix, text, longestText);
  return wordsToBytes(variant, words);
}

/** Writes a witness program of any version: version 0 as bech32, all later ones as bech32m. */
export function toSegwitAddress(prefix: string, version: number, program: Uint8Array): string {
  if (!isWitnessProgram(version, program.length)) throw new Fault("internal", "not a witness program");
  const coder = variants[variantOf(version)];
  return coder.encode(prefix, [version, ...coder.toWords(program)], longestStandard);
}

/** Reads an address of this network, whichever version it is of. */
export function fromSegwitAddress(prefix: string, text: string): { version: number; program: Uint8Array } {
  // The version's own character comes first after the separator and says which checksum to expect.
  const variant = text[prefix.length + 1]?.toLowerCase() === "q" ? "bech32" : "bech32m";
  const [version = -1, ...words] = readWords(variant, prefix, text, longestStandard);
  const program = wordsToBytes(variant, words);
  if (!isWitnessProgram(version, program.length)) throw malformed("not a witness program");
  return { version, program };
}

function variantOf(version: number): Bech32Variant {
  return version === 0 ? "bech32" : "bech32m";
}

/** Whether BIP-141 knows such a program: two to 40 bytes, and exactly a key hash or a script hash in version 0. */
export function isWitnessProgram(version: number, length: number): boolean {
  if (version === 0) return length === 20 || length === 32;
  return version > 0 && version <= 16 && length >= 2 && length <= 40;
}

function readWords(variant: Bech32Variant, prefix: string, text: string, limit: number): number[] {
  let decoded: { prefix: string; words: number[] };
  try {
    decoded = variants[variant].decode(text as `${string}1${string}`, limit);
  } catch (cause) {
    throw malformed("wrong characters or checksum", cause);
  }
  if (decoded.prefix !== prefix) throw malformed("of another network");
  return decoded.words;
}

function wordsToBytes(variant: Bech32Variant, words: number[]): Uint8Array {
  try {
    return variants[variant].fromWords(words);
  } catch (cause) {
    throw malformed("leftover bits", cause);
  }
}
