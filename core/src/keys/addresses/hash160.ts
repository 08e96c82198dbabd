/** RIPEMD-160 of SHA-256: the twenty bytes that Bitcoin, Cosmos and the XRP Ledger know a key or script by. */
import { ripemd160 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";

/** The hash of a key or script. */
export function hash160(bytes: Uint8Array): Uint8Array {
  return ripemd160(sha256(bytes));
}
