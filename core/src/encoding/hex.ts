/** Hexadecimal text. We write lower case; clients send either case, so we read both. */
import { Fault } from "../fault.ts";

const pairs: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The value of each ASCII digit; -1 elsewhere, so that OR-ing digits together turns negative once one is wrong. */
const digits = new Int8Array(128).fill(-1);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  digits[digit.charCodeAt(0)] = value;
  digits[digit.toUpperCase().charCodeAt(0)] = value;
}

/** Writes bytes as lower-case hex without a prefix. */
export function toHex(bytes: Uint8Array): string {
  // Runtimes that have it write one flat string; a sum of pairs is a tree of strings that its first reader must flatten.
  if (bytes.toHex !== undefined) return bytes.toHex();
  let text = "";
  for (let i = 0; i < bytes.length; i++) text += pairs[bytes[i] ?? 0];
  return text;
}

/** Reads hex of either case; an odd length or any other character (`0x` included) is refused. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> {
  return fromHexAt(text, 0);
}

/**
 * The same from a place on: what is cut off a text first is slower to read. Runtimes have a reader of their own, which takes twice as
 * long for keys, signatures and ids.
 */
export function fromHexAt(text: string, start: number): Uint8Array<ArrayBuffer> {
  if (start > text.length || (text.length - start) % 2 !== 0)
    throw new Fault("invalid_argument", "malformed hex: odd number of digits");
  const bytes = new Uint8Array((text.length - start) / 2);
  let seen = 0;
  for (let i = 0; i < bytes.length; i++) {
    const high = digits[text.charCodeAt(start + 2 * i)] ?? -1;
    const low = digits[text.charCodeAt(start + 2 * i + 1)] ?? -1;
    seen |= high | low;
    bytes[i] = (high << 4) | low;
  }
  if (seen < 0) throw new Fault("invalid_argument", "malformed hex: a character that is not a hex digit");
  return bytes;
}
