/** Ledgers whose accounts are Ed25519 keys, each with its own short spelling of the key or its hash. */
import { blake2b } from "@noble/hashes/blake2.js";
import { sha3_256 } from "@noble/hashes/sha3.js";
import { base32nopad } from "@scure/base";
import { toBase58 } from "../../encoding/base58.ts";
import { crc16 } from "../../encoding/crc16.ts";
import { toHex } from "../../encoding/hex.ts";
import type { PublicKey } from "../key_curves.ts";

/** Both Sui and Aptos put a byte beside the key that says which kind of key it is; zero is a single Ed25519 key. */
const singleEd25519 = 0;

/** StrKey's version of an account: 6 << 3, which makes the text begin with G. */
const stellarAccount = 0x30;

/** The key itself in base58, without a checksum. */
export function solanaAddress({ compressed }: PublicKey): string {
  return toBase58(compressed);
}

/** The BLAKE2b hash of the key. */
export function suiAddress({ compressed }: PublicKey): string {
  return `0x${toHex(blake2b(Uint8Array.of(singleEd25519, ...compressed), { dkLen: 32 }))}`;
}

/** The key that an account begins with; should it rotate its key on the ledger, the address stays. */
export function aptosAddress({ compressed }: PublicKey): string {
  return `0x${toHex(sha3_256(Uint8Array.of(...compressed, singleEd25519)))}`;
}

/** StrKey: the key with version and checksum in base32. */
export function stellarAddress({ compressed }: PublicKey): string {
  const body = Uint8Array.of(stellarAccount, ...compressed);
  const crc = crc16(body);
  return base32nopad.encode(Uint8Array.of(...body, crc & 0xff, crc >> 8));
}
