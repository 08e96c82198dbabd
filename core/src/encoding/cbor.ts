/**
 * The strict CBOR reader (RFC 8949) for what authenticators send. A value has one spelling here, apart from the order of
 * a map's keys, and only the types that WebAuthn uses. Refused beyond malformed bytes:
 *
 * - lengths and integers that are longer than they need to be, and lengths that are left open;
 * - a key twice in one map: readers disagree about which one counts;
 * - keys that are neither integers nor text;
 * - tags, floats, `undefined` and unassigned simple values: CTAP2 forbids tags and no field of WebAuthn has the others;
 * - nesting deeper than 8, and bytes behind the end.
 */
import { Fault } from "../fault.ts";

export type CborKey = number | bigint | string;
export type CborMap = ReadonlyMap<CborKey, CborValue>;
/** An integer is a `number` as long as that is exact, and a `bigint` beyond; no other numbers are read. */
export type CborValue = CborKey | boolean | null | Uint8Array | readonly CborValue[] | CborMap;

/** The longest input is an attestation with a chain of certificates, a few kilobytes. */
const defaultMaxBytes = 64 * 1024;
const maxDepth = 8;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed CBOR: ${why}`);
}

/** Reads `bytes` as exactly one value. Byte strings are views into the input. */
export function fromCbor(bytes: Uint8Array, maxBytes: number = defaultMaxBytes): CborValue {
  const { value, end } = readCborAt(bytes, 0, maxBytes);
  if (end !== bytes.length) throw malformed("trailing bytes");
  return value;
}

/** Reads the value that begins at `start`, and says where it ends: authenticator data has values in the middle. */
export function readCborAt(
  bytes: Uint8Array,
  start: number,
  maxBytes: number = defaultMaxBytes,
): { value: CborValue; end: number } {
  if (bytes.length > maxBytes) throw malformed(`over ${maxBytes} bytes`);
  const from = { bytes, at: start };
  const value = readValue(from, 0);
  return { value, end: from.at };
}

export function isCborMap(value: CborValue | undefined): value is CborMap {
  return value instanceof Map;
}

type Reader = { readonly bytes: Uint8Array; at: number };

/** RFC 8949, section 3.1: the upper three bits of a value's first byte. */
const major = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;

function readValue(from: Reader, depth: number): CborValue {
  const head = readByte(from);
  const type = head >> 5;
  const info = head & 0x1f;
  if (type === major.tag) throw malformed("a tag");
  if (type === major.simple) return readSimple(info);
  const argument = readArgument(from, info);
  if (type === major.unsigned) return argument;
  if (type === major.negative) return negative(argument);
  if (type === major.bytes) return readBytes(from, argument);
  if (type === major.text) return readText(from, argument);
  if (depth === maxDepth) throw malformed(`nested deeper than ${maxDepth}`);
  return type === major.array ? readArray(from, argument, depth + 1) : readMap(from, argument, depth + 1);
}

function readByte(from: Reader): number {
  const byte = from.bytes[from.at];
  if (byte === undefined) throw malformed("too short");
  from.at++;
  return byte;
}

function readSimple(info: number): boolean | null {
  if (info === 20) return false;
  if (info === 21) return true;
  if (info === 22) return null;
  throw malformed(info >= 25 && info <= 27 ? "a float" : "a simple value other than false, true and null");
}

/** By the low five bits of the first byte: how many bytes of argument follow, and the least value that needs them. */
const longArguments: Readonly<Record<number, { length: number; least: number }>> = {
  24: { length: 1, least: 24 },
  25: { length: 2, least: 0x100 },
  26: { length: 4, least: 0x1_0000 },
  27: { length: 8, least: 0x1_0000_0000 },
};

function readArgument(from: Reader, info: number): number | bigint {
  if (info < 24) return info;
  const form = longArguments[info];
  if (form === undefined) throw malformed(info === 31 ? "a length that is left open" : "a reserved length");
  let value = 0;
  for (let i = 0; i < Math.min(form.length, 4); i++) value = value * 256 + readByte(from);
  if (form.length === 8) {
    let low = 0;
    for (let i = 0; i < 4; i++) low = low * 256 + readByte(from);
    const whole = value * 0x1_0000_0000 + low;
    if (!Number.isSafeInteger(whole)) return (BigInt(value) << 32n) | BigInt(low);
    value = whole;
  }
  if (value < form.least) throw malformed("longer than it needs to be");
  return value;
}

/** CBOR writes -1 - n. */
function negative(argument: number | bigint): number | bigint {
  const value = -1n - BigInt(argument);
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A length within the input, in units of at least `unit` bytes: checked before anything is made of that size. */
function lengthWithin(from: Reader, argument: number | bigint, unit: number): number {
  const left = from.bytes.length - from.at;
  if (typeof argument === "bigint" || argument > left / unit) throw malformed("too short");
  return argument;
}

function readBytes(from: Reader, argument: number | bigint): Uint8Array {
  const length = lengthWithin(from, argument, 1);
  from.at += length;
  return from.bytes.subarray(from.at - length, from.at);
}

function readText(from: Reader, argument: number | bigint): string {
  const bytes = readBytes(from, argument);
  try {
    return utf8.decode(bytes);
  } catch {
    throw malformed("text that is not UTF-8");
  }
}

function readArray(from: Reader, argument: number | bigint, depth: number): readonly CborValue[] {
  const length = lengthWithin(from, argument, 1);
  const items: CborValue[] = [];
  for (let i = 0; i < length; i++) items.push(readValue(from, depth));
  return items;
}

function readMap(from: Reader, argument: number | bigint, depth: number): CborMap {
  const length = lengthWithin(from, argument, 2);
  const map = new Map<CborKey, CborValue>();
  for (let i = 0; i < length; i++) {
    const key = readValue(from, depth);
    if (typeof key !== "number" && typeof key !== "string" && typeof key !== "bigint") {
      throw malformed("a key that is neither an integer nor text");
    }
    if (map.has(key)) throw malformed("a key twice");
    map.set(key, readValue(from, depth));
  }
  return map;
}
