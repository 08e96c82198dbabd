/**
 * Byte layouts as values. Every structure Keystead composes itself (frame, header, leaf, memory record, seal) is
 * declared with these parts, so that each value has exactly one encoding and a decoder accepts nothing else:
 * integers are big-endian and fixed-width, lengths are four bytes, text is well-formed UTF-8, trailing bytes are refused.
 * MACs and digests are taken over these bytes; two encodings of one value would be two identities.
 */
import { Fault } from "../fault.ts";

/** One part of a layout: how long a value is, how it is written, and how it is read back. */
export type Layout<T> = {
  size(value: T): number;
  write(out: Writer, value: T): void;
  read(from: Reader): T;
};

/** The value a layout describes. */
export type ValueOf<L> = L extends Layout<infer T> ? T : never;

export type Writer = { bytes: Uint8Array; view: DataView; at: number };
export type Reader = { bytes: Uint8Array; view: DataView; at: number };

const utf8Encoder = new TextEncoder();
const utf8Decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed bytes: ${why}`);
}

/** Moves the reader past `length` bytes and returns where they began. */
function take(from: Reader, length: number): number {
  const start = from.at;
  if (length > from.bytes.length - start) throw malformed("too short");
  from.at = start + length;
  return start;
}

/** Writes `value` as the bytes of `layout`. */
export function encode<T>(layout: Layout<T>, value: T): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(layout.size(value));
  const out = { bytes, view: new DataView(bytes.buffer), at: 0 };
  layout.write(out, value);
  if (out.at !== bytes.length) throw new Fault("internal", "a layout wrote another length than it announced");
  return bytes;
}

/** Reads `bytes` as exactly one value of `layout`; anything short, long or non-canonical is refused. */
export function decode<T>(layout: Layout<T>, bytes: Uint8Array): T {
  const from = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), at: 0 };
  const value = layout.read(from);
  if (from.at !== bytes.length) throw malformed("trailing bytes");
  return value;
}

export const u8: Layout<number> = {
  size: () => 1,
  write(out, value) {
    out.view.setUint8(out.at, value);
    out.at += 1;
  },
  read: (from) => from.view.getUint8(take(from, 1)),
};

export const u32: Layout<number> = {
  size: () => 4,
  write(out, value) {
    out.view.setUint32(out.at, value);
    out.at += 4;
  },
  read: (from) => from.view.getUint32(take(from, 4)),
};

/** A count or a time in milliseconds: eight bytes on the wire, a safe integer in memory. */
export const u64: Layout<number> = {
  size: () => 8,
  write(out, value) {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new Fault("internal", "a u64 needs a safe, non-negative integer");
    out.view.setUint32(out.at, Math.floor(value / 2 ** 32));
    out.view.setUint32(out.at + 4, value >>> 0);
    out.at += 8;
  },
  read(from) {
    const at = take(from, 8);
    const value = from.view.getUint32(at) * 2 ** 32 + from.view.getUint32(at + 4);
    if (!Number.isSafeInteger(value)) throw malformed("an integer beyond 2^53");
    return value;
  },
};

export const bool: Layout<boolean> = {
  size: () => 1,
  write(out, value) {
    out.view.setUint8(out.at, value ? 1 : 0);
    out.at += 1;
  },
  read(from) {
    const byte = from.view.getUint8(take(from, 1));
    if (byte > 1) throw malformed("a boolean that is neither 0 nor 1");
    return byte === 1;
  },
};

/** Exactly `length` bytes. The value read is a view into the input. */
export function fixed(length: number): Layout<Uint8Array> {
  return {
    size: () => length,
    write(out, value) {
      if (value.length !== length) throw new Fault("internal", `expected ${length} bytes, got ${value.length}`);
      out.bytes.set(value, out.at);
      out.at += length;
    },
    read(from) {
      const start = take(from, length);
      return from.bytes.subarray(start, start + length);
    },
  };
}

/** Length-prefixed bytes. The value read is a view into the input. */
export const bytes: Layout<Uint8Array> = {
  size: (value) => 4 + value.length,
  write(out, value) {
    u32.write(out, value.length);
    out.bytes.set(value, out.at);
    out.at += value.length;
  },
  read(from) {
    const length = u32.read(from);
    const start = take(from, length);
    return from.bytes.subarray(start, start + length);
  },
};

/** Length-prefixed, well-formed UTF-8. */
export const text: Layout<string> = {
  size: (value) => 4 + utf8Length(value),
  write(out, value) {
    bytes.write(out, utf8Encoder.encode(value));
  },
  read(from) {
    const raw = bytes.read(from);
    try {
      return utf8Decoder.decode(raw);
    } catch (cause) {
      throw new Fault("invalid_argument", "malformed bytes: text is not UTF-8", { cause });
    }
  },
};

function utf8Length(value: string): number {
  let length = value.length;
  for (let i = 0; i < value.length; i++) {
    const unit = value.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) length += 1;
    else if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(value.charCodeAt(i + 1))) {
      length += 2;
      i += 1;
    } else length += 2; // A lone surrogate becomes U+FFFD, three bytes, as TextEncoder writes it.
  }
  return length;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** A counted sequence. */
export function list<T>(item: Layout<T>): Layout<readonly T[]> {
  return {
    size: (values) => values.reduce((sum, value) => sum + item.size(value), 4),
    write(out, values) {
      u32.write(out, values.length);
      for (const value of values) item.write(out, value);
    },
    read(from) {
      const count = u32.read(from);
      // Every item takes at least one byte, so a count beyond the rest of the input is a lie: refuse before allocating.
      if (count > from.bytes.length - from.at) throw malformed("a list longer than its bytes");
      const values: T[] = [];
      for (let i = 0; i < count; i++) values.push(item.read(from));
      return values;
    },
  };
}

/** A presence byte, then the value if it is there. */
export function optional<T>(item: Layout<T>): Layout<T | undefined> {
  return {
    size: (value) => 1 + (value === undefined ? 0 : item.size(value)),
    write(out, value) {
      bool.write(out, value !== undefined);
      if (value !== undefined) item.write(out, value);
    },
    read: (from) => (bool.read(from) ? item.read(from) : undefined),
  };
}

/** Named fields, in the order they are declared. */
export function struct<T extends Record<string, unknown>>(fields: { [K in keyof T]: Layout<T[K]> }): Layout<T> {
  const entries = Object.entries(fields) as [keyof T, Layout<T[keyof T]>][];
  return {
    size(value) {
      let size = 0;
      for (const [name, field] of entries) size += field.size(value[name]);
      return size;
    },
    write(out, value) {
      for (const [name, field] of entries) field.write(out, value[name]);
    },
    read(from) {
      const value = {} as T;
      for (const [name, field] of entries) value[name] = field.read(from);
      return value;
    },
  };
}

/** One of several words of a fixed table, written as its place in it. Words are only ever added at the end. */
export function oneOf<const W extends readonly string[]>(words: W): Layout<W[number]> {
  return {
    size: () => 1,
    write(out, value) {
      const place = words.indexOf(value);
      if (place < 0) throw new Fault("internal", `\`${value}\` is not in its table`);
      u8.write(out, place);
    },
    read(from) {
      const word = words[u8.read(from)];
      if (word === undefined) throw malformed("an unknown word");
      return word;
    },
  };
}

/** Exactly one of several shapes: its place in the table, then its bytes. Shapes are only ever added at the end. */
export function variant<V extends Record<string, unknown>>(
  shapes: { [K in keyof V]: Layout<V[K]> },
): Layout<{ [K in keyof V]: { kind: K; value: V[K] } }[keyof V]> {
  const kinds = Object.keys(shapes) as (keyof V)[];
  return {
    size: ({ kind, value }) => 1 + shapes[kind].size(value),
    write(out, { kind, value }) {
      u8.write(out, kinds.indexOf(kind));
      shapes[kind].write(out, value);
    },
    read(from) {
      const kind = kinds[u8.read(from)];
      if (kind === undefined) throw malformed("an unknown shape");
      return { kind, value: shapes[kind].read(from) };
    },
  };
}
