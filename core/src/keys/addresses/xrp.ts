/** XRP Ledger accounts: Bitcoin's construction in another alphabet, which makes every address begin with r. */
import { toBase58check } from "../../encoding/base58.ts";
import type { PublicKey } from "../key_curves.ts";
import { hash160 } from "./hash160.ts";

const accountVersion = 0;

/** The classic address of a secp256k1 key. */
export function xrpAddress({ compressed }: PublicKey): string {
  return toBase58check(Uint8Array.of(accountVersion, ...hash160(compressed)), "ripple");
}
