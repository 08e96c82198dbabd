/**
 * UTF-8 as code points in a typed array. TextDecoder would make a string, and a string can neither be wiped nor kept
 * from being copied; mnemonics and passphrases are read through here instead.
 */
import { Fault } from "../fault.ts";

/** By the number of bytes of a sequence: the bits of its first byte that count, and the least value it may say. */
const sequences = [
  { length: 1, mask: 0x7f, least: 0 },
  { length: 2, mask: 0x1f, least: 0x80 },
  { length: 3, mask: 0x0f, least: 0x800 },
  { length: 4, mask: 0x07, least: 0x10000 },
] as const;

function sequenceOf(first: number): (typeof sequences)[number] | undefined {
  if (first < 0x80) return sequences[0];
  if (first < 0xc0) return undefined;
  if (first < 0xe0) return sequences[1];
  if (first < 0xf0) return sequences[2];
  return first < 0xf8 ? sequences[3] : undefined;
}

/** What was read so far may be half of a secret. */
function malformed(points: Uint32Array): Fault {
  points.fill(0);
  return new Fault("invalid_argument", "malformed UTF-8");
}

/** Reads well-formed UTF-8; overlong forms, surrogates and cut-off sequences are refused. */
export function toCodePoints(utf8: Uint8Array): Uint32Array<ArrayBuffer> {
  const points = new Uint32Array(utf8.length);
  let count = 0;
  for (let at = 0; at < utf8.length; ) {
    const first = utf8[at] ?? 0;
    const sequence = sequenceOf(first);
    if (sequence === undefined || at + sequence.length > utf8.length) throw malformed(points);
    let point = first & sequence.mask;
    for (const next of utf8.subarray(at + 1, at + sequence.length)) {
      if ((next & 0xc0) !== 0x80) throw malformed(points);
      point = (point << 6) | (next & 0x3f);
    }
    if (point < sequence.least || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) throw malformed(points);
    points[count++] = point;
    at += sequence.length;
  }
  return points.subarray(0, count);
}

/** Writes code points as UTF-8. */
export function fromCodePoints(points: Uint32Array): Uint8Array<ArrayBuffer> {
  let length = 0;
  for (const point of points) length += lengthOf(point);
  const utf8 = new Uint8Array(length);
  let at = 0;
  for (const point of points) {
    const end = at + lengthOf(point);
    let rest = point;
    for (let i = end - 1; i > at; i--) {
      utf8[i] = 0x80 | (rest & 0x3f);
      rest >>>= 6;
    }
    utf8[at] = end - at === 1 ? rest : ((0xf00 >> (end - at)) & 0xff) | rest;
    at = end;
  }
  return utf8;
}

function lengthOf(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}
