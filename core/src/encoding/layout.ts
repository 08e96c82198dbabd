/**
 * Byte layouts as values. Every structure Keystead composes itself (frame, header, leaf, memory record, seal) is
 * declared with these parts, so that each value has exactly one encoding and a decoder accepts nothing else:
 * integers are big-endian and fixed-width, lengths are four bytes, text is well-formed UTF-8, trailing bytes are refused.
 * MACs and digests are taken over these bytes; two encodings of one value would be two identities.
 */
import { Fault } from "../fault.ts";

/** One part of a layout: how a value is written, and how it is read back. */
export type Layout<T> = {
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

/**
 * Every value is written here first and then cut out: that costs one pass and one allocation, where asking each part for
 * its length would cost another pass. Nothing stays here, because some values are secrets.
 */
const sharedBuffer: Writer = writerOf(new Uint8Array(64 * 1024));

function writerOf(bytes: Uint8Array): Writer {
  return { bytes, view: new DataView(bytes.buffer), at: 0 };
}

/**
 * A copy of what is written. Runtimes make arrays of up to 64 bytes cheaply and charge microseconds for larger ones, more
 * than it takes to fill them; so those share slabs, small ones, because any that is kept keeps its whole slab.
 */
function cutOut({ bytes, at: length }: Writer): Uint8Array<ArrayBuffer> {
  const written = bytes.subarray(0, length);
  if (length <= 64 || length > slabLength / 2) return Uint8Array.from(written);
  if (slab.length - slabAt < length) {
    slab = new Uint8Array(slabLength);
    slabAt = 0;
  }
  const copy = slab.subarray(slabAt, slabAt + length);
  copy.set(written);
  slabAt += length;
  return copy;
}

const slabLength = 8 * 1024;
let slab = new Uint8Array(slabLength);
let slabAt = 0;

/** Makes sure that `length` bytes fit behind what is written. */
function reserve(out: Writer, length: number): void {
  if (out.bytes.length - out.at >= length) return;
  const { bytes: full, at } = out;
  const { bytes, view } = writerOf(new Uint8Array(2 ** Math.ceil(Math.log2(at + length))));
  bytes.set(full.subarray(0, at));
  full.fill(0, 0, at);
  out.bytes = bytes;
  out.view = view;
}

/** Writes `value` as the bytes of `layout`, behind `headLength` zero bytes for the caller to fill. */
export function encode<T>(layout: Layout<T>, value: T, headLength = 0): Uint8Array<ArrayBuffer> {
  const out = sharedBuffer;
  try {
    out.at = 0;
    reserve(out, headLength);
    out.at = headLength;
    layout.write(out, value);
    return cutOut(out);
  } finally {
    out.bytes.fill(0, 0, out.at);
  }
}

/** The bytes of several values of one layout, one behind the other. */
export function encodeAll<T>(layout: Layout<T>, values: readonly T[]): Uint8Array<ArrayBuffer> {
  const out = sharedBuffer;
  try {
    out.at = 0;
    for (const value of values) layout.write(out, value);
    return cutOut(out);
  } finally {
    out.bytes.fill(0, 0, out.at);
  }
}

/** A reader at the beginning of some bytes. */
export function readerOf(bytes: Uint8Array): Reader {
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), at: 0 };
}

/** Reads `bytes` as exactly one value of `layout`; anything short, long or non-canonical is refused. */
export function decode<T>(layout: Layout<T>, bytes: Uint8Array): T {
  const from = readerOf(bytes);
  const value = layout.read(from);
  checkAtEnd(from);
  return value;
}

/** Refuses bytes behind what was read. */
export function checkAtEnd({ bytes, at }: Reader): void {
  if (at !== bytes.length) throw malformed("trailing bytes");
}

export const u8: Layout<number> = {
  write(out, value) {
    // A DataView would write another number that fits.
    if ((value & 0xff) !== value) throw new Fault("internal", "a u8 needs an integer from 0 to 255");
    reserve(out, 1);
    out.view.setUint8(out.at, value);
    out.at += 1;
  },
  read: (from) => from.view.getUint8(take(from, 1)),
};

export const u32: Layout<number> = {
  write(out, value) {
    if (value >>> 0 !== value) throw new Fault("internal", "a u32 needs an integer from 0 to 2^32 - 1");
    reserve(out, 4);
    out.view.setUint32(out.at, value);
    out.at += 4;
  },
  read: (from) => from.view.getUint32(take(from, 4)),
};

/** A count or a time in milliseconds: eight bytes on the wire, a safe integer in memory. */
export const u64: Layout<number> = {
  write(out, value) {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new Fault("internal", "a u64 needs a safe, non-negative integer");
    reserve(out, 8);
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
  write(out, value) {
    reserve(out, 1);
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
    write(out, value) {
      if (value.length !== length) throw new Fault("internal", `expected ${length} bytes, got ${value.length}`);
      reserve(out, length);
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
  write(out, value) {
    u32.write(out, value.length);
    reserve(out, value.length);
    out.bytes.set(value, out.at);
    out.at += value.length;
  },
  read(from) {
    const length = u32.read(from);
    const start = take(from, length);
    return from.bytes.subarray(start, start + length);
  },
};

/** Length-prefixed bytes, at most `max` of them. */
export function bytesUpTo(max: number): Layout<Uint8Array> {
  return {
    write(out, value) {
      if (value.length > max) throw new Fault("internal", `expected at most ${max} bytes, got ${value.length}`);
      bytes.write(out, value);
    },
    read(from) {
      const value = bytes.read(from);
      if (value.length > max) throw malformed(`more than ${max} bytes`);
      return value;
    },
  };
}

/** Up to this length, writing ASCII by ourselves costs less than calling an encoder of the runtime. */
const shortLength = 48;

/** Writes text that is short and ASCII; false, with nothing moved, when it is not. */
function writeShort(out: Writer, value: string): boolean {
  const { length } = value;
  if (length > shortLength) return false;
  const start = out.at + 4;
  for (let i = 0; i < length; i++) {
    const unit = value.charCodeAt(i);
    if (unit > 0x7f) return false;
    out.bytes[start + i] = unit;
  }
  u32.write(out, length);
  out.at += length;
  return true;
}

/** Length-prefixed, well-formed UTF-8; a lone surrogate becomes U+FFFD, as TextEncoder writes it. */
export const text: Layout<string> = {
  write(out, value) {
    // One UTF-16 unit takes at most three bytes.
    reserve(out, 4 + 3 * value.length);
    if (writeShort(out, value)) return;
    const start = out.at + 4;
    const { written } = utf8Encoder.encodeInto(value, out.bytes.subarray(start));
    u32.write(out, written);
    out.at = start + written;
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

/** The same, of at most `max` bytes. */
export function textUpTo(max: number): Layout<string> {
  return {
    write(out, value) {
      const start = out.at + 4;
      text.write(out, value);
      if (out.at - start > max) throw new Fault("internal", `expected text of at most ${max} bytes`);
    },
    read(from) {
      const start = from.at + 4;
      const value = text.read(from);
      if (from.at - start > max) throw malformed(`text of more than ${max} bytes`);
      return value;
    },
  };
}

/** A counted sequence, of at most `max` items. */
export function list<T>(item: Layout<T>, max = Number.POSITIVE_INFINITY): Layout<readonly T[]> {
  return {
    write(out, values) {
      if (values.length > max) throw new Fault("internal", `expected at most ${max} items, got ${values.length}`);
      u32.write(out, values.length);
      for (const value of values) item.write(out, value);
    },
    read(from) {
      const count = u32.read(from);
      if (count > max) throw malformed(`a list of more than ${max} items`);
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
    write(out, value) {
      bool.write(out, value !== undefined);
      if (value !== undefined) item.write(out, value);
    },
    read: (from) => (bool.read(from) ? item.read(from) : undefined),
  };
}

/** Named fields, in the order they are declared. */
export function struct<T extends Record<string, unknown>>(fields: { [K in keyof T]: Layout<T[K]> }): Layout<T> {
  const names = Object.keys(fields) as (keyof T)[];
  const parts = Object.values(fields) as Layout<T[keyof T]>[];
  return {
    write(out, value) {
      for (let i = 0; i < names.length; i++) parts[i]?.write(out, value[names[i] as keyof T]);
    },
    read(from) {
      const value = {} as T;
      for (let i = 0; i < names.length; i++) {
        const part = parts[i] as Layout<T[keyof T]>;
        value[names[i] as keyof T] = part.read(from);
      }
      return value;
    },
  };
}

/** One of several words of a fixed table, written as its place in it. Words are only ever added at the end. `what` they name is for refusals. */
export function oneOf<const W extends readonly string[]>(words: W, what = "word"): Layout<W[number]> {
  return {
    write(out, value) {
      const place = words.indexOf(value);
      if (place < 0) throw new Fault("internal", `\`${value}\` is not in its table`);
      u8.write(out, place);
    },
    read(from) {
      const place = u8.read(from);
      const word = words[place];
      if (word === undefined) throw malformed(`unknown ${what} ${place}`);
      return word;
    },
  };
}

/** Exactly one of several shapes: its place in the table, then its bytes. Shapes are only ever added at the end. `what` they are is for refusals. */
export function variant<V extends Record<string, unknown>>(
  shapes: { [K in keyof V]: Layout<V[K]> },
  what = "shape",
): Layout<{ [K in keyof V]: { kind: K; value: V[K] } }[keyof V]> {
  const kinds = Object.keys(shapes) as (keyof V)[];
  return {
    write(out, { kind, value }) {
      u8.write(out, kinds.indexOf(kind));
      shapes[kind].write(out, value);
    },
    read(from) {
      const place = u8.read(from);
      const kind = kinds[place];
      if (kind === undefined) throw malformed(`unknown ${what} ${place}`);
      return { kind, value: shapes[kind].read(from) };
    },
  };
}
