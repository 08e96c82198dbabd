/**
 * The strict JSON reader for everything a stranger sends. A stamp signs bytes, and policies, log and handlers act on
 * what was parsed from them; so a document is only read if it means the same to every reader. Refused beyond RFC 8259:
 *
 * - bytes that are not UTF-8, and a byte order mark: decoders that repair them disagree about the text;
 * - duplicate keys: JSON.parse silently keeps the last, other readers the first;
 * - a backslash inside an object key: no client needs one, and V8 in Node 26.10 can return a wrong key for an escaped
 *   one, depending on what was parsed before;
 * - `__proto__` as a key; NUL (PostgreSQL text cannot hold it) and lone surrogates (no UTF-8 exists for them);
 * - numbers that JSON.parse changes to another integer or to infinity: amounts travel as strings;
 * - nesting deeper than 32: the walk below and every later one may recurse;
 * - more brackets, commas and colons than the caller bargained for: one MiB of `{},{},…` costs sixty times as much as one text.
 *
 * It is JSON.parse between two linear passes, about twice its cost; a parser of our own would cost ten times as much.
 */
import { Fault } from "../fault.ts";

const maxDepth = 32;
const defaultMaxBytes = 1024 * 1024;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads exactly one JSON document of at most `maxBytes` bytes (1 MiB unless told) and `maxMarks` brackets, commas and colons. */
export function readJson(
  bytes: Uint8Array,
  maxBytes: number = defaultMaxBytes,
  maxMarks: number = Number.POSITIVE_INFINITY,
): unknown {
  if (bytes.length > maxBytes) throw refusal(`longer than ${maxBytes} bytes`);
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) throw refusal("starts with a byte order mark");
  const scan = scanBytes(bytes, maxMarks);
  const value = parse(bytes);
  if (countKeys(value, scan.unicodeEscapes) !== scan.colons) throw refusal("duplicate key");
  return value;
}

function refusal(why: string): Fault {
  return new Fault("invalid_argument", `bad request body: ${why}`, { detail: why });
}

/** The engine's own error texts quote the document, which may hold secrets: they are dropped here on purpose. */
function parse(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw refusal("not UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw refusal("not JSON");
  }
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
const letterU = 0x75;

/**
 * Looks at the bytes once, before anything is parsed: nesting, colons outside strings (in a well-formed document one
 * per key written) and where escapes are. Whether the document is well-formed at all is left to JSON.parse.
 */
function scanBytes(bytes: Uint8Array, maxMarks: number): { colons: number; unicodeEscapes: boolean } {
  let colons = 0;
  let commas = 0;
  let brackets = 0;
  let depth = 0;
  let unicodeEscapes = false;
  let escapedString = false; // Whether the last string held a backslash; at a colon, the last string is a key.
  const length = bytes.length;
  for (let i = 0; i < length; i++) {
    const byte = bytes[i] ?? 0;
    if (byte === quote) {
      escapedString = false;
      for (i++; i < length; i++) {
        const inside = bytes[i];
        if (inside === quote) break;
        if (inside !== backslash) continue;
        escapedString = true;
        i++;
        if (bytes[i] === letterU) unicodeEscapes = true;
      }
    } else if (byte === colon) {
      if (escapedString) throw refusal("an escape inside an object key");
      colons++;
    } else if (byte === comma) {
      // In a well-formed document there cannot be many of the others without commas.
      if (++commas + colons + brackets > maxMarks) throw tooManyMarks(maxMarks);
    } else if ((byte | 0x20) === 0x7b) {
      brackets += 2;
      if (++depth > maxDepth) throw refusal(`nested deeper than ${maxDepth}`);
    } else if ((byte | 0x20) === 0x7d) depth--;
  }
  if (commas + colons + brackets > maxMarks) throw tooManyMarks(maxMarks);
  return { colons, unicodeEscapes };
}

function tooManyMarks(maxMarks: number): Fault {
  return refusal(`more than ${maxMarks} brackets, commas and colons`);
}

/**
 * Counts the keys that survived parsing and refuses values we do not carry. Strings need looking at only where a
 * `\u` escape was seen: raw control characters and encoded surrogates are already refused as JSON and as UTF-8.
 */
function countKeys(value: unknown, checkStrings: boolean): number {
  if (typeof value === "string") {
    if (checkStrings) checkString(value);
    return 0;
  }
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw refusal("a number too large to represent");
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw refusal("an integer beyond 2^53");
    return 0;
  }
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) count += countKeys(value[i], checkStrings);
    return count;
  }
  const object = value as Record<string, unknown>;
  const keys = Object.keys(object);
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] ?? "";
    if (key === "__proto__") throw refusal("the key `__proto__`");
    count += countKeys(object[key], checkStrings);
  }
  return count + keys.length;
}

function checkString(value: string): void {
  if (value.includes("\u0000")) throw refusal("a NUL character");
  if (!value.isWellFormed()) throw refusal("a lone surrogate");
}
