/** The Cosmos family: twenty bytes of a key's hash under the chain's own prefix. */
import { sha256 } from "@noble/hashes/sha2.js";
import { toBech32 } from "../../encoding/bech32.ts";
import type { PublicKey } from "../key_curves.ts";
import { hash160 } from "./hash160.ts";

/** The encoder for a chain's prefix, for keys of secp256k1. */
export function cosmosAddress(prefix: string): (publicKey: PublicKey) => string {
  return ({ compressed }) => toBech32("bech32", prefix, hash160(compressed));
}

/** CometBFT's rule for Ed25519 keys: SHA-256 alone, cut to twenty bytes. */
export function cometAddress(prefix: string): (publicKey: PublicKey) => string {
  return ({ compressed }) => toBech32("bech32", prefix, sha256(compressed).subarray(0, 20));
}
