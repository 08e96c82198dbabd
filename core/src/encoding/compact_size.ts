/**
 * Bitcoin's variable-length counts, and what is counted with them, as parts for `layout.ts`.
 * The shortest form is the only one read: a longer one would give a transaction a second spelling with the same id.
 */
import { Fault } from "../fault.ts";
import type { Work } from "../work.ts";
import { encode, encodeAll, fixed, type Layout, type Reader, u8 } from "./layout.ts";

/** The reference client's bound on any size it reads. */
const maxSize = 0x02000000;

/** How many bytes follow the first one, and the least count that needs them. */
const forms = [
  { head: 0xfd, length: 2, least: 0xfd },
  { head: 0xfe, length: 4, least: 0x10000 },
] as const;

function malformed(why: string): Fault {
  return new Fault("invalid_argument", `malformed compact size: ${why}`);
}

/** One byte, or a marker and the count in two or four bytes, little-endian. */
export const compactSize: Layout<number> = {
  write(out, value) {
    const form = forms.findLast(({ least }) => value >= least);
    if (form === undefined) return u8.write(out, value);
    if (value > maxSize) throw new Fault("internal", "a compact size beyond 32 MiB");
    u8.write(out, form.head);
    for (let i = 0; i < form.length; i++) u8.write(out, (value >>> (8 * i)) & 0xff);
  },
  read(from) {
    const head = u8.read(from);
    if (head < 0xfd) return head;
    const form = forms.find((candidate) => candidate.head === head);
    if (form === undefined) throw malformed("over 32 MiB");
    let value = 0;
    for (let i = 0; i < form.length; i++) value += u8.read(from) * 2 ** (8 * i);
    if (value < form.least) throw malformed("not the shortest form");
    if (value > maxSize) throw malformed("over 32 MiB");
    return value;
  },
};

/** Reads a count that cannot be true of what is left, before anything is allocated for it. */
function readCount(count: Layout<number>, from: Reader): number {
  const value = count.read(from);
  if (value > from.bytes.length - from.at) throw new Fault("invalid_argument", "malformed bytes: too short");
  return value;
}

/** Bytes behind their count. The value read is a view into the input. */
export function countedBytes(count: Layout<number>): Layout<Uint8Array> {
  return {
    write(out, value) {
      count.write(out, value.length);
      fixed(value.length).write(out, value);
    },
    read: (from) => fixed(readCount(count, from)).read(from),
  };
}

/** Items behind their count; every item takes at least one byte. */
export function countedList<T>(count: Layout<number>, item: Layout<T>): Layout<readonly T[]> {
  return {
    write(out, values) {
      count.write(out, values.length);
      for (const value of values) item.write(out, value);
    },
    read(from) {
      const length = readCount(count, from);
      const values: T[] = [];
      for (let i = 0; i < length; i++) values.push(item.read(from));
      return values;
    },
  };
}

/** Items that are read or written before a pause: together they take about a millisecond. */
const itemsAtOnce = 500;

/** Reads what `countedList` does, with pauses: a transaction may have fifty thousand outputs. */
export function* readingList<T>(count: Layout<number>, item: Layout<T>, from: Reader): Work<readonly T[]> {
  const length = readCount(count, from);
  const values: T[] = [];
  while (values.length < length) {
    values.push(item.read(from));
    if (values.length % itemsAtOnce === 0) yield;
  }
  return values;
}

/** The bytes that `countedList` writes, with pauses and in several parts. */
export function* writingList<T>(count: Layout<number>, item: Layout<T>, values: readonly T[]): Work<Uint8Array[]> {
  const parts: Uint8Array[] = [encode(count, values.length)];
  for (let at = 0; at < values.length; at += itemsAtOnce) {
    parts.push(encodeAll(item, values.slice(at, at + itemsAtOnce)));
    yield;
  }
  return parts;
}
