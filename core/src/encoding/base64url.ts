/**
 * Base64 without line breaks (RFC 4648). We write the URL alphabet without padding. The published clients send the URL
 * and the plain alphabet, padded or not, so we read all four; but one text keeps to one alphabet, and the unused bits
 * of its last character are zero, so that a value has no further spellings than these.
 */
import { Fault } from "../fault.ts";

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Marks beside the six value bits, collected by OR over the whole text and judged once at its end. */
const urlOnly = 0x100;
const plainOnly = 0x200;

const values = new Int16Array(128).fill(-1);
for (let value = 0; value < 62; value++) values[alphabet.charCodeAt(value)] = value;
values["-".charCodeAt(0)] = 62 | urlOnly;
values["_".charCodeAt(0)] = 63 | urlOnly;
values["+".charCodeAt(0)] = 62 | plainOnly;
values["/".charCodeAt(0)] = 63 | plainOnly;

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed base64url: ${why}`);
}

const unpadded = { alphabet: "base64url", omitPadding: true } as const;

/** Writes bytes as base64url without padding. */
export function toBase64url(bytes: Uint8Array): string {
  // Older browsers do not have it. Only writing is left to the runtime: its reader skips white space, which would be a second spelling.
  if (bytes.toBase64 !== undefined) return bytes.toBase64(unpadded);
  let text = "";
  let pending = 0;
  let bits = 0;
  for (let i = 0; i < bytes.length; i++) {
    pending = (pending << 8) | (bytes[i] ?? 0);
    for (bits += 8; bits >= 6; ) {
      bits -= 6;
      text += alphabet[(pending >> bits) & 63];
    }
    pending &= 63;
  }
  return bits === 0 ? text : text + alphabet[(pending << (6 - bits)) & 63];
}

/** Reads base64url or plain base64, padded or not; any other character, length or leftover bit is refused. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> {
  const length = unpaddedLength(text);
  if (length % 4 === 1) throw malformed("impossible length");
  const bytes = new Uint8Array(Math.floor((length * 3) / 4));
  let at = 0;
  let pending = 0;
  let bits = 0;
  let seen = 0;
  for (let i = 0; i < length; i++) {
    const value = values[text.charCodeAt(i)] ?? -1;
    seen |= value;
    pending = (pending << 6) | (value & 63);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = pending >> bits;
      pending &= 15; // At most four bits are still wanted; without this the number would outgrow 32 bits.
    }
  }
  if (seen < 0) throw malformed("a character outside the alphabet");
  if ((seen & urlOnly) !== 0 && (seen & plainOnly) !== 0) throw malformed("two alphabets in one text");
  if ((pending & ((1 << bits) - 1)) !== 0) throw malformed("trailing bits are not zero");
  return bytes;
}

/** Padding is optional, but where it stands it fills the last group of four exactly. */
function unpaddedLength(text: string): number {
  if (!text.endsWith("=")) return text.length;
  if (text.length % 4 !== 0) throw malformed("wrong padding");
  return text.endsWith("==") ? text.length - 2 : text.length - 1;
}
