/**
 * What is sealed beside a wallet's record: the entropy of its mnemonic, and the passphrase it was imported with, if any. The
 * language of the words is no secret and stands in the record. Layout: SPEC.md in this folder.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { KeyMaths } from "@keystead/core/keys/key_maths.ts";
import { entropyLengths, toSeed } from "@keystead/core/keys/mnemonic.ts";
import type { MnemonicLanguage } from "@keystead/core/keys/word_lists.ts";

export type WalletSecret = {
  entropy: Uint8Array;
  /** UTF-8 as it was given. An empty one is none: BIP-39 makes the same seed of both. */
  passphrase?: Uint8Array;
};

const format = 1;
const headLength = 2;

/** The bytes to be sealed, fresh. The caller wipes both what it gave and what it got. */
export function encodeWalletSecret({ entropy, passphrase = new Uint8Array() }: WalletSecret): Uint8Array {
  if (!isEntropyLength(entropy.length)) throw new Fault("internal", "no mnemonic has entropy of this length");
  const bytes = new Uint8Array(headLength + entropy.length + passphrase.length);
  bytes.set([format, entropy.length]);
  bytes.set(entropy, headLength);
  bytes.set(passphrase, headLength + entropy.length);
  return bytes;
}

/** Copies of the parts, also of a Buffer, whose `slice` would share its bytes. The caller wipes them, and the bytes. */
export function decodeWalletSecret(bytes: Uint8Array): WalletSecret {
  const [found, entropyLength = 0] = bytes;
  if (found !== format) throw new Fault("failed_precondition", "unknown format of a wallet's secret");
  const end = headLength + entropyLength;
  if (!isEntropyLength(entropyLength) || bytes.length < end) {
    throw new Fault("failed_precondition", "a wallet's secret does not hold its entropy");
  }
  const entropy = Uint8Array.from(bytes.subarray(headLength, end));
  return bytes.length === end ? { entropy } : { entropy, passphrase: Uint8Array.from(bytes.subarray(end)) };
}

/** The seed of BIP-39 behind the sealed bytes: what keys are derived from and equal wallets are told by. The caller wipes it. */
export function seedOfWallet(maths: KeyMaths, language: MnemonicLanguage, secret: Uint8Array): Uint8Array {
  const { entropy, passphrase } = decodeWalletSecret(secret);
  try {
    return toSeed(maths, { entropy, language }, passphrase);
  } finally {
    entropy.fill(0);
    passphrase?.fill(0);
  }
}

function isEntropyLength(length: number): boolean {
  return Object.values(entropyLengths).includes(length);
}
