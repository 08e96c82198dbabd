/** Ethereum and Tron: the last twenty bytes of the key's Keccak hash, written in two ways. */
import { keccak_256 } from "@noble/hashes/sha3.js";
import { toBase58check } from "../../encoding/base58.ts";
import { toHex } from "../../encoding/hex.ts";
import type { PublicKey } from "../key_curves.ts";

const ascii = new TextEncoder();
const tronVersion = 0x41;

/** The twenty bytes that both ledgers call an account. */
export function accountBytes({ uncompressed }: PublicKey): Uint8Array {
  return keccak_256(uncompressed.subarray(1)).subarray(12);
}

/** The account in hex, with EIP-55's capitals. */
export function ethereumAddress(publicKey: PublicKey): string {
  return toChecksumAddress(accountBytes(publicKey));
}

/** EIP-55: a letter is upper case where the hash of the lower-case text has a digit of 8 or more. */
export function toChecksumAddress(account: Uint8Array): string {
  const lower = toHex(account);
  const hash = toHex(keccak_256(ascii.encode(lower)));
  let text = "0x";
  for (const [i, digit] of [...lower].entries()) text += (hash[i] ?? "0") >= "8" ? digit.toUpperCase() : digit;
  return text;
}

/** The account behind Tron's version byte, in base58check. */
export function tronAddress(publicKey: PublicKey): string {
  return toBase58check(Uint8Array.of(tronVersion, ...accountBytes(publicKey)));
}
