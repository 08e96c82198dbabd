/** The text in which clients send transactions. Clients of half the chains write `0x`. */
import { fromHex } from "../encoding/hex.ts";
import { unparsable } from "./refusal.ts";

/** The bytes of a transaction in hex, with or without `0x`. */
export function fromTransactionHex(text: string): Uint8Array {
  try {
    return fromHex(text.startsWith("0x") ? text.slice(2) : text);
  } catch (cause) {
    throw unparsable("it is not hexadecimal", cause);
  }
}
