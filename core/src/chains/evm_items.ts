/** The RLP items that Ethereum and Tempo transactions share. */
import { concatBytes } from "@noble/hashes/utils.js";
import { type RlpItem, toRlp } from "../encoding/rlp.ts";
import { fixedString, integer, listOf, type RlpLayout, tuple } from "../encoding/rlp_layout.ts";

/** Storage that the transaction announces to touch (EIP-2930). */
export type AccessListEntry = { address: Uint8Array; storageKeys: readonly Uint8Array[] };

/** An account's address. */
export const address = fixedString(20);
export const u64 = integer(8);
export const u256 = integer(32);
export const accessList: RlpLayout<readonly AccessListEntry[]> = listOf(
  tuple({ address, storageKeys: listOf(fixedString(32)) }),
);

/** A list of items behind its EIP-2718 type byte, if it has one. */
export function enveloped(prefix: number | undefined, items: readonly RlpItem[]): Uint8Array<ArrayBuffer> {
  const list = toRlp(items);
  return prefix === undefined ? list : concatBytes(Uint8Array.of(prefix), list);
}
