/** Identifiers as RFC 9562 text on the wire and as 16 bytes inside. No version is demanded: imported ids keep theirs. */
import { Fault } from "../fault.ts";
import { fromHex, toHex } from "./hex.ts";

const canonical = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether the text is a UUID in the 8-4-4-4-12 form, in either case. */
export function isUuid(text: string): boolean {
  return canonical.test(text);
}

/** Reads the 8-4-4-4-12 form, in either case; braces, `urn:uuid:` and missing dashes are refused. */
export function uuidToBytes(text: string): Uint8Array<ArrayBuffer> {
  if (!isUuid(text)) throw new Fault("invalid_argument", "malformed UUID");
  return fromHex(text.replaceAll("-", ""));
}

/** Writes 16 bytes as a lower-case UUID. */
export function uuidFromBytes(bytes: Uint8Array): string {
  if (bytes.length !== 16) throw new Fault("internal", `a UUID has 16 bytes, got ${bytes.length}`);
  const hex = toHex(bytes);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
