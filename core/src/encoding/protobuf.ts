/**
 * Protocol Buffers, read and written in one canonical form: fields in ascending order, varints as short as they can be,
 * fields at their default left out, nothing unknown. Serialisers write just this; anything else would parse to the same
 * facts with another hash, or hide what the facts do not show.
 */
import { Fault } from "../fault.ts";

/** How one kind of field is written and read. */
export type ProtobufKind<T> = {
  /** 0: a varint; 2: bytes behind their length. */
  wire: 0 | 2;
  read(content: bigint | Uint8Array): T;
  write(value: T): bigint | Uint8Array;
};

/** One field of a message: its number and what stands there. */
export type ProtobufField<T> = {
  number: number;
  /** The value of a message without this field. */
  absent(): T;
  /** Takes one more occurrence; `seen` is what was read so far, or undefined for the first. */
  add(seen: T | undefined, wire: number, content: bigint | Uint8Array): T;
  /** The occurrences to write: none for the default. */
  occurrences(value: T): readonly (bigint | Uint8Array)[];
};

/** A message with named fields. */
export type ProtobufMessage<T> = {
  read(bytes: Uint8Array): T;
  write(value: T): Uint8Array<ArrayBuffer>;
};

/** Far beyond any real message; two bytes of empty messages would otherwise cost us hundreds each. */
const maxOccurrences = 10_000;

const wireVarint = 0;
const wireBytes = 2;

const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed protobuf: ${why}`);
}

/** Kinds assert their own content, because `add` has checked the wire type before. */
const asVarint = (content: bigint | Uint8Array): bigint => content as bigint;
const asBytes = (content: bigint | Uint8Array): Uint8Array => content as Uint8Array;

/** An `int64` that is never negative: amounts, times and counts. */
export const int64: ProtobufKind<bigint> = {
  wire: wireVarint,
  read(content) {
    const value = asVarint(content);
    // A negative amount would satisfy every policy that sets an upper bound.
    if (value >= 2n ** 63n) throw malformed("a negative number");
    return value;
  },
  write: (value) => value,
};

/** An `int32` or an enumeration's number, never negative. */
export const int32: ProtobufKind<number> = {
  wire: wireVarint,
  read(content) {
    const value = asVarint(content);
    if (value >= 2n ** 31n) throw malformed("a number beyond 31 bits");
    return Number(value);
  },
  write: (value) => BigInt(value),
};

export const bool: ProtobufKind<boolean> = {
  wire: wireVarint,
  read(content) {
    const value = asVarint(content);
    if (value > 1n) throw malformed("a boolean that is neither 0 nor 1");
    return value === 1n;
  },
  write: (value) => (value ? 1n : 0n),
};

export const bytes: ProtobufKind<Uint8Array> = { wire: wireBytes, read: asBytes, write: (value) => value };

/** Well-formed UTF-8. */
export const text: ProtobufKind<string> = {
  wire: wireBytes,
  read(content) {
    try {
      return utf8Decoder.decode(asBytes(content));
    } catch (cause) {
      throw new Fault("invalid_argument", "malformed protobuf: text is not UTF-8", { cause });
    }
  },
  write: (value) => utf8Encoder.encode(value),
};

/** One of several words, known by their place in the table; the first is the default. */
export function word<const W extends readonly string[]>(words: W): ProtobufKind<W[number]> {
  return {
    wire: wireVarint,
    read(content) {
      const found = words[int32.read(content)];
      if (found === undefined) throw malformed("an unknown word");
      return found;
    },
    write: (value) => BigInt(words.indexOf(value)),
  };
}

function isDefault(content: bigint | Uint8Array): boolean {
  return content instanceof Uint8Array ? content.length === 0 : content === 0n;
}

/** A field that occurs at most once and is left out when it holds its default. */
export function singular<T>(number: number, kind: ProtobufKind<T>): ProtobufField<T> {
  const absent = () => kind.read(kind.wire === wireVarint ? 0n : new Uint8Array());
  return {
    number,
    absent,
    add(seen, wire, content) {
      if (seen !== undefined) throw malformed(`field ${number} twice`);
      if (wire !== kind.wire) throw malformed(`field ${number} of another type`);
      if (isDefault(content)) throw malformed(`field ${number} spelled out at its default`);
      return kind.read(content);
    },
    occurrences(value) {
      const content = kind.write(value);
      return isDefault(content) ? [] : [content];
    },
  };
}

/** A message inside a message. One without content is still there, unlike a number or a string. */
export function inner<T>(number: number, message: ProtobufMessage<T>): ProtobufField<T | undefined> {
  return {
    number,
    absent: () => undefined,
    add(seen, wire, content) {
      if (seen !== undefined) throw malformed(`field ${number} twice`);
      if (wire !== wireBytes) throw malformed(`field ${number} of another type`);
      return message.read(asBytes(content));
    },
    occurrences: (value) => (value === undefined ? [] : [message.write(value)]),
  };
}

/** Any number of messages, one behind the other. */
export function repeated<T>(number: number, message: ProtobufMessage<T>): ProtobufField<readonly T[]> {
  return {
    number,
    absent: () => [],
    add(seen, wire, content) {
      if (wire !== wireBytes) throw malformed(`field ${number} of another type`);
      // The list is ours until the message is read; copying it for each part would cost the square of its length.
      const values = (seen ?? []) as T[];
      values.push(message.read(asBytes(content)));
      return values;
    },
    occurrences: (values) => values.map((value) => message.write(value)),
  };
}

/** A message of these fields, declared in ascending order of their numbers. */
export function message<T extends Record<string, unknown>>(
  fields: { [K in keyof T]: ProtobufField<T[K]> },
): ProtobufMessage<T> {
  const names = Object.keys(fields) as (keyof T)[];
  const places = new Map(names.map((name, place) => [fields[name].number, place]));
  return {
    read(content) {
      const from = { bytes: content, at: 0 };
      const value = {} as Partial<T>;
      let place = -1;
      for (let count = 0; from.at < content.length; count++) {
        if (count === maxOccurrences) throw malformed(`over ${maxOccurrences} fields in one message`);
        const { number, wire, content: occurrence } = readOccurrence(from);
        const next = places.get(number);
        if (next === undefined) throw malformed(`unknown field ${number}`);
        if (next < place) throw malformed(`field ${number} out of order`);
        place = next;
        const name = names[place] as keyof T;
        value[name] = fields[name].add(value[name], wire, occurrence);
      }
      for (const name of names) if (!(name in value)) value[name] = fields[name].absent();
      return value as T;
    },
    write(value) {
      const parts: Uint8Array[] = [];
      for (const name of names) {
        const { number, occurrences } = fields[name];
        for (const occurrence of occurrences(value[name])) parts.push(...writeOccurrence(number, occurrence));
      }
      return joined(parts);
    },
  };
}

type Reader = { bytes: Uint8Array; at: number };

function readOccurrence(from: Reader): { number: number; wire: number; content: bigint | Uint8Array } {
  const tag = readSmallVarint(from);
  const number = tag >>> 3;
  const wire = tag & 7;
  if (number < 1) throw malformed("no such field number");
  if (wire === wireVarint) return { number, wire, content: readVarint(from) };
  if (wire !== wireBytes) throw malformed(`field ${number} of another type`);
  const length = readSmallVarint(from);
  if (length > from.bytes.length - from.at) throw malformed("too short");
  const start = from.at;
  from.at += length;
  return { number, wire, content: from.bytes.subarray(start, from.at) };
}

/** A tag or a length: no field that we know and no message that we take needs more than four bytes for either. */
function readSmallVarint(from: Reader): number {
  let value = 0;
  for (let i = 0; i < 4; i++) {
    const byte = nextByte(from);
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) return shortest(byte, i, value);
  }
  throw malformed("a tag or length over four bytes");
}

function readVarint(from: Reader): bigint {
  let value = 0n;
  for (let i = 0; i < 10; i++) {
    const byte = nextByte(from);
    value |= BigInt(byte & 0x7f) << BigInt(7 * i);
    if (byte < 0x80) {
      if (value >= 2n ** 64n) throw malformed("a varint over 64 bits");
      return shortest(byte, i, value);
    }
  }
  throw malformed("a varint over ten bytes");
}

function nextByte(from: Reader): number {
  const byte = from.bytes[from.at++];
  if (byte === undefined) throw malformed("too short");
  return byte;
}

function shortest<T>(lastByte: number, place: number, value: T): T {
  if (lastByte === 0 && place > 0) throw malformed("a varint that is not the shortest form");
  return value;
}

/** A varint's bytes. */
export function toVarint(value: bigint): Uint8Array<ArrayBuffer> {
  const digits: number[] = [];
  let rest = value;
  for (; rest > 0x7fn; rest >>= 7n) digits.push(Number(rest & 0x7fn) | 0x80);
  return Uint8Array.of(...digits, Number(rest));
}

/** The pieces of one occurrence: its tag, for bytes their length, and the content. */
export function writeOccurrence(number: number, content: bigint | Uint8Array): Uint8Array[] {
  const isBytes = content instanceof Uint8Array;
  const tag = toVarint((BigInt(number) << 3n) | BigInt(isBytes ? wireBytes : wireVarint));
  return isBytes ? [tag, toVarint(BigInt(content.length)), content] : [tag, toVarint(content)];
}

/** Passing thousands of parts as arguments would exhaust the stack. */
function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
