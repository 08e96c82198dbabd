/** Dogecoin addresses: Bitcoin's hash of the key under versions of its own. */
import { toBase58check } from "../../encoding/base58.ts";
import type { PublicKey } from "../key_curves.ts";
import { hash160 } from "./hash160.ts";

const versions = { mainnet: 0x1e, testnet: 0x71 } as const;

/** The encoder for a network. */
export function dogecoinAddress(network: keyof typeof versions): (publicKey: PublicKey) => string {
  return ({ compressed }) => toBase58check(Uint8Array.of(versions[network], ...hash160(compressed)));
}
