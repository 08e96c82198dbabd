/**
 * DER (X.690), as far as certificates of elliptic curves need it: one-byte tags, definite lengths in their shortest form. The reader
 * takes nothing else, so a structure has one spelling.
 */
import { Fault } from "../fault.ts";
import { joined } from "./joined.ts";

export const derTag = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectId: 0x06,
  utf8: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** A tag whose meaning depends on the structure around it; `constructed` when it wraps whole values. */
export function contextTag(number: number, constructed: boolean): number {
  return (constructed ? 0xa0 : 0x80) | number;
}

export type DerValue = {
  tag: number;
  content: Uint8Array;
  /** With tag and length: what signatures are over. */
  whole: Uint8Array;
};

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed DER: ${why}`);
}

export function writeDer(tag: number, ...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const content = joined(parts);
  return joined([Uint8Array.of(tag, ...lengthBytes(content.length)), content]);
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest & 0xff);
  return [0x80 | digits.length, ...digits];
}

/** A non-negative integer from its big-endian bytes. */
export function writeDerInteger(value: Uint8Array): Uint8Array<ArrayBuffer> {
  let start = 0;
  while (start < value.length - 1 && value[start] === 0) start++;
  const digits = value.subarray(start);
  return writeDer(derTag.integer, Uint8Array.from((digits[0] ?? 0) > 0x7f ? [0] : []), digits);
}

/** An object identifier from its dotted text. */
export function writeObjectId(text: string): Uint8Array<ArrayBuffer> {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const content = [first * 40 + second, ...rest].flatMap((arc) => {
    const septets = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) septets.unshift(0x80 | (left & 0x7f));
    return septets;
  });
  return writeDer(derTag.objectId, Uint8Array.from(content));
}

/** Reads `bytes` as exactly one value, with this tag where one is given. */
export function readDer(bytes: Uint8Array, tag?: number): DerValue {
  const values = readDerValues(bytes);
  const [value] = values;
  if (value === undefined || values.length > 1) throw malformed("not exactly one value");
  if (tag !== undefined && value.tag !== tag) throw malformed("an unexpected tag");
  return value;
}

/** Reads values until the end of `bytes`. Contents are views into the input. */
export function readDerValues(bytes: Uint8Array): DerValue[] {
  const values: DerValue[] = [];
  for (let at = 0; at < bytes.length; ) {
    const value = readAt(bytes, at);
    values.push(value);
    at += value.whole.length;
  }
  return values;
}

function readAt(bytes: Uint8Array, start: number): DerValue {
  const tag = bytes[start] ?? 0;
  if ((tag & 0x1f) === 0x1f) throw malformed("a tag of several bytes");
  const { length, at } = readLength(bytes, start + 1);
  if (length > bytes.length - at) throw malformed("too short");
  return { tag, content: bytes.subarray(at, at + length), whole: bytes.subarray(start, at + length) };
}

function readLength(bytes: Uint8Array, start: number): { length: number; at: number } {
  const first = bytes[start];
  if (first === undefined) throw malformed("too short");
  if (first < 0x80) return { length: first, at: start + 1 };
  const count = first & 0x7f;
  if (count === 0 || count > 3) throw malformed("a length that is left open or over three bytes");
  let length = 0;
  for (let i = 1; i <= count; i++) {
    const digit = bytes[start + i];
    if (digit === undefined) throw malformed("too short");
    length = length * 256 + digit;
  }
  if (length < (count === 1 ? 0x80 : 256 ** (count - 1)))
    throw malformed("a length that is longer than it needs to be");
  return { length, at: start + 1 + count };
}

/** The big-endian bytes of a non-negative integer, at most `length` of them, with zeros in front. */
export function readDerInteger({ tag, content }: DerValue, length: number): Uint8Array<ArrayBuffer> {
  if (tag !== derTag.integer) throw malformed("an unexpected tag");
  const first = content[0];
  if (first === undefined || first > 0x7f) throw malformed("an integer that is empty or negative");
  if (first === 0 && content.length > 1 && (content[1] ?? 0) < 0x80) throw malformed("a superfluous zero");
  const digits = first === 0 ? content.subarray(1) : content;
  if (digits.length > length) throw malformed("an integer that is too long");
  const value = new Uint8Array(length);
  value.set(digits, length - digits.length);
  return value;
}

/** A bit string of whole bytes, which is all that keys and signatures are. */
export function readBitString({ tag, content }: DerValue): Uint8Array {
  if (tag !== derTag.bitString || content[0] !== 0) throw malformed("not a bit string of whole bytes");
  return content.subarray(1);
}
