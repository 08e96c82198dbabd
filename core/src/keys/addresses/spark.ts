/** Spark addresses: a protobuf message with the identity key as its only field, in bech32m. */
import { toBech32 } from "../../encoding/bech32.ts";
import type { PublicKey } from "../key_curves.ts";

/** Field 1, length-delimited, 33 bytes. */
const identityKeyField = [0x0a, 0x21] as const;

/** The encoder for a network's prefix. */
export function sparkAddress(prefix: string): (publicKey: PublicKey) => string {
  return ({ compressed }) => toBech32("bech32m", prefix, Uint8Array.of(...identityKeyField, ...compressed));
}
