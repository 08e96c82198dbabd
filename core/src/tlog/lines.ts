/** The small parts that all texts of the log are made of. Each has one spelling. */
import { fromBase64 } from "../encoding/base64.ts";
import { Fault } from "../fault.ts";
import { hashLength } from "./hash.ts";

/** What is refused: which text it was, and what is wrong with it. */
export function malformed(what: string, why: string): Fault {
  return new Fault("invalid_argument", `malformed ${what}: ${why}`);
}

/** A count or a position: decimal digits without a leading zero. Above 2^53 - 1 numbers are no longer exact. */
export function parseNumber(what: string, text: string): number {
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) throw malformed(what, "a number is not decimal");
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw malformed(what, "a number is too large");
  return value;
}

/** A hash as base64. */
export function parseHash(what: string, text: string): Uint8Array<ArrayBuffer> {
  const bytes = parseBase64(what, text);
  if (bytes.length !== hashLength) throw malformed(what, `a hash of ${bytes.length} bytes`);
  return bytes;
}

export function parseBase64(what: string, text: string): Uint8Array<ArrayBuffer> {
  try {
    return fromBase64(text);
  } catch (cause) {
    throw new Fault("invalid_argument", `malformed ${what}: base64 is not canonical`, { cause });
  }
}

/** Whether a text has nothing but printable characters and ends of lines, and survives being written as UTF-8. */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !/[^\P{Cc}\n]/u.test(text);
}
