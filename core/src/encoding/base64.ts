/**
 * Standard base64 with padding (RFC 4648, section 4), in its one canonical spelling. For texts that are signed or compared, where a second
 * spelling of the same bytes would be a second identity; what clients send goes through `base64url.ts`.
 */
import { Fault } from "../fault.ts";
import { fromBase64url, toBase64url } from "./base64url.ts";

/** Writes bytes as standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  if (bytes.toBase64 !== undefined) return bytes.toBase64();
  const text = toBase64url(bytes).replaceAll("-", "+").replaceAll("_", "/");
  return text.padEnd(4 * Math.ceil(text.length / 4), "=");
}

/** Reads standard base64; another alphabet, missing padding and leftover bits are refused. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  if (text.length % 4 !== 0) throw new Fault("invalid_argument", "malformed base64: wrong padding");
  if (/[-_]/.test(text)) throw new Fault("invalid_argument", "malformed base64: a character outside the alphabet");
  return fromBase64url(text);
}
