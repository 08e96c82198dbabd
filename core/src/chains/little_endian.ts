/** Little-endian integers, as Bitcoin writes them: parts for `layout.ts`, whose own are big-endian. */
import { fixed, type Layout, u8 } from "../encoding/layout.ts";

const [fourBytes, eightBytes] = [fixed(4), fixed(8)];

function fromLittleEndian(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}

/** Four bytes, signed. */
export const i32le: Layout<number> = {
  write(out, value) {
    for (let i = 0; i < 4; i++) u8.write(out, (value >> (8 * i)) & 0xff);
  },
  read: (from) => fromLittleEndian(fourBytes.read(from), 0),
};

/** Four bytes, unsigned. */
export const u32le: Layout<number> = { write: i32le.write, read: (from) => i32le.read(from) >>> 0 };

/** Eight bytes, unsigned: amounts. */
export const u64le: Layout<bigint> = {
  write(out, value) {
    i32le.write(out, Number(BigInt.asIntN(32, value)));
    i32le.write(out, Number(BigInt.asIntN(32, value >> 32n)));
  },
  read: (from) => toU64(eightBytes.read(from), 0),
};

/** The amount in the eight bytes at `at`. */
export function toU64(bytes: Uint8Array, at: number): bigint {
  const high = BigInt(fromLittleEndian(bytes, at + 4) >>> 0);
  return (high << 32n) | BigInt(fromLittleEndian(bytes, at) >>> 0);
}

/** The number in the four bytes at `at`. */
export function toU32(bytes: Uint8Array, at: number): number {
  return fromLittleEndian(bytes, at) >>> 0;
}
