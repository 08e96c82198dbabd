/** The two formats whose address is the public key itself: lower case, without a prefix. */
import { toHex } from "../../encoding/hex.ts";
import type { PublicKey } from "../key_curves.ts";

/** 33 bytes, or 32 on Ed25519. */
export function compressedHex({ compressed }: PublicKey): string {
  return toHex(compressed);
}

/** 65 bytes. */
export function uncompressedHex({ uncompressed }: PublicKey): string {
  return toHex(uncompressed);
}
