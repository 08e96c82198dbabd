/**
 * Recursive Length Prefix, the encoding of Ethereum's transactions (Yellow Paper, appendix B).
 * Every item has exactly one spelling here: the shortest header, no trailing bytes. A second spelling of one transaction
 * would be a second hash, and the bytes that a policy judged would not be the ones that were signed.
 */
import { Fault } from "../fault.ts";
import { fromHex, toHex } from "./hex.ts";

/** A string of bytes, or a list of items. */
export type RlpItem = Uint8Array | readonly RlpItem[];

/** Far beyond any transaction; without them, a small body of nested or tiny items would cost us stack and memory. */
const maxLength = 1024 * 1024;
const maxDepth = 16;
const maxItems = 64 * 1024;

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed RLP: ${why}`);
}

/** Reads `bytes` as exactly one item. Strings are views into the input. */
export function fromRlp(bytes: Uint8Array): RlpItem {
  if (bytes.length > maxLength) throw malformed(`over ${maxLength} bytes`);
  const from = { bytes, at: 0, items: 0 };
  const item = readItem(from, bytes.length, 0);
  if (from.at !== bytes.length) throw malformed("trailing bytes");
  return item;
}

type Reader = { bytes: Uint8Array; at: number; items: number };

/** Reads the item at the reader, which must end at or before `end`. */
function readItem(from: Reader, end: number, depth: number): RlpItem {
  if (++from.items > maxItems) throw malformed(`over ${maxItems} items`);
  if (from.at >= end) throw malformed("too short");
  const head = from.bytes[from.at++] ?? 0;
  if (head < 0x80) return from.bytes.subarray(from.at - 1, from.at);
  const isList = head >= 0xc0;
  const length = readLength(from, end, head - (isList ? 0xc0 : 0x80));
  const start = from.at;
  const stop = start + length;
  if (isList) return readList(from, stop, depth);
  if (length === 1 && (from.bytes[start] ?? 0) < 0x80) throw malformed("a small byte with a header");
  from.at = stop;
  return from.bytes.subarray(start, stop);
}

function readList(from: Reader, stop: number, depth: number): readonly RlpItem[] {
  if (depth >= maxDepth) throw malformed(`nested over ${maxDepth} deep`);
  const items: RlpItem[] = [];
  while (from.at < stop) items.push(readItem(from, stop, depth + 1));
  return items;
}

/** The length that a header announces: below 56 it stands in the header itself, else in the bytes behind it. */
function readLength(from: Reader, end: number, announced: number): number {
  let length = announced;
  if (announced > 55) {
    const digits = announced - 55;
    if (digits > end - from.at) throw malformed("too short");
    if (from.bytes[from.at] === 0) throw malformed("a length with a leading zero");
    // Four digits and more say at least 16 MiB, which no input of ours has; fewer stay exact in a number.
    if (digits > 3) throw malformed("too short");
    length = 0;
    for (let i = 0; i < digits; i++) length = length * 256 + (from.bytes[from.at++] ?? 0);
    if (length < 56) throw malformed("a long header for a short item");
  }
  if (length > end - from.at) throw malformed("too short");
  return length;
}

/** Writes one item. */
export function toRlp(item: RlpItem): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(encodedLength(item));
  writeBefore(out, out.length, item);
  return out;
}

function isString(item: RlpItem): item is Uint8Array {
  return item instanceof Uint8Array;
}

function isBare(item: Uint8Array): boolean {
  return item.length === 1 && (item[0] ?? 0) < 0x80;
}

function encodedLength(item: RlpItem): number {
  let length = 0;
  if (isString(item)) {
    if (isBare(item)) return 1;
    length = item.length;
  } else for (const part of item) length += encodedLength(part);
  return length < 56 ? 1 + length : 1 + digitsOf(length) + length;
}

function digitsOf(length: number): number {
  return length < 0x100 ? 1 : length < 0x10000 ? 2 : length < 0x1000000 ? 3 : 4;
}

/**
 * Writes the item so that it ends at `end`, and returns where it begins. From the back, because a header says how long what follows it is:
 * lengths of nested lists would be added up once for each list around them.
 */
function writeBefore(out: Uint8Array, end: number, item: RlpItem): number {
  if (isString(item)) {
    const start = end - item.length;
    out.set(item, start);
    return isBare(item) ? start : writeHeaderBefore(out, start, 0x80, item.length);
  }
  let start = end;
  for (let i = item.length - 1; i >= 0; i--) start = writeBefore(out, start, item[i] as RlpItem);
  return writeHeaderBefore(out, start, 0xc0, end - start);
}

function writeHeaderBefore(out: Uint8Array, end: number, base: number, length: number): number {
  if (length < 56) {
    out[end - 1] = base + length;
    return end - 1;
  }
  const digits = digitsOf(length);
  for (let i = 0; i < digits; i++) out[end - 1 - i] = length >>> (8 * i);
  out[end - 1 - digits] = base + 55 + digits;
  return end - 1 - digits;
}

/** Reads an unsigned integer of at most `maxBytes`; zero is the empty string, and no other has a leading zero. */
export function fromRlpInteger(item: RlpItem, maxBytes: number): bigint {
  if (!isString(item)) throw malformed("a list where an integer belongs");
  if (item.length > maxBytes) throw malformed(`an integer over ${maxBytes} bytes`);
  if (item.length === 0) return 0n;
  if (item[0] === 0) throw malformed("an integer with a leading zero");
  return item.length > exactBytes ? BigInt(`0x${toHex(item)}`) : BigInt(readExact(item));
}

/** So many bytes are exact in a number, which is made and taken apart in a fraction of the time that hex takes. */
const exactBytes = 6;
const beyondExact = 2n ** 48n;

function readExact(bytes: Uint8Array): number {
  let value = 0;
  for (let i = 0; i < bytes.length; i++) value = value * 256 + (bytes[i] ?? 0);
  return value;
}

function writeExact(value: number): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (let rest = value; rest >= 1; rest /= 256) length += 1;
  const bytes = new Uint8Array(length);
  for (let i = length - 1, rest = value; i >= 0; i--, rest = Math.floor(rest / 256)) bytes[i] = rest % 256;
  return bytes;
}

/** Writes an unsigned integer without leading zeros. */
export function toRlpInteger(value: bigint): Uint8Array<ArrayBuffer> {
  if (value < 0n) throw new Fault("internal", "an RLP integer cannot be negative");
  if (value < beyondExact) return writeExact(Number(value));
  // Through hex: a shift of a large number for each of its bytes costs many times as much.
  const digits = value.toString(16);
  return fromHex(digits.length % 2 === 0 ? digits : `0${digits}`);
}
