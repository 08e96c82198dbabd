/**
 * CBOR read loosely and then written again: what does not come out as the same bytes was not written in the one way that
 * we take. The second opinion on our strict reader.
 */
import { type CborNode, writeCbor } from "./cbor_writer.ts";

export type LooseCbor = number | bigint | string | boolean | null | Buffer | LooseCbor[] | Map<unknown, LooseCbor>;

type Read = { value: LooseCbor; node: CborNode; end: number; depth: number };

class Unreadable extends Error {}

/** The value at the beginning and where it ends, or undefined when it is not strict. */
export function readStrictly(bytes: Buffer): { value: LooseCbor; end: number } | undefined {
  try {
    const { value, node, end, depth } = read(bytes, 0);
    const isSame = bytes.subarray(0, end).equals(writeCbor(node));
    return isSame && depth <= 8 ? { value, end } : undefined;
  } catch (error) {
    if (error instanceof Unreadable || error instanceof RangeError) return undefined;
    throw error;
  }
}

function read(bytes: Buffer, at: number): Read {
  const head = bytes.readUInt8(at);
  const [major, info] = [head >> 5, head & 31];
  if (major === 7) return readSimple(info, at + 1);
  if (major === 6 || info > 27) throw new Unreadable();
  const size = info < 24 ? 0 : 2 ** (info - 24);
  const argument = size === 0 ? BigInt(info) : BigInt(`0x${taken(bytes, at + 1, size).toString("hex")}`);
  const start = at + 1 + size;
  if (major <= 1) {
    const value = major === 0 ? argument : -1n - argument;
    const isExact = BigInt(Number(value)) === value && Number.isSafeInteger(Number(value));
    return { value: isExact ? Number(value) : value, node: value, end: start, depth: 0 };
  }
  if (argument > bytes.length) throw new Unreadable();
  const length = Number(argument);
  if (major >= 4) return readItems(bytes, start, length, major === 5);
  const content = taken(bytes, start, length);
  const value = major === 2 ? content : content.toString();
  return { value, node: major === 2 ? new Uint8Array(content) : content.toString(), end: start + length, depth: 0 };
}

function taken(bytes: Buffer, start: number, length: number): Buffer {
  if (start + length > bytes.length) throw new Unreadable();
  return bytes.subarray(start, start + length);
}

function readSimple(info: number, end: number): Read {
  const value = new Map([
    [20, false],
    [21, true],
    [22, null],
  ]).get(info);
  if (value === undefined) throw new Unreadable();
  return { value, node: value, end, depth: 0 };
}

function readItems(bytes: Buffer, start: number, length: number, isMap: boolean): Read {
  const items: Read[] = [];
  let end = start;
  for (let i = 0; i < length * (isMap ? 2 : 1); i++) {
    const item = read(bytes, end);
    items.push(item);
    end = item.end;
  }
  const depth = 1 + Math.max(0, ...items.map((item) => item.depth));
  if (!isMap) return { value: items.map(({ value }) => value), node: items.map(({ node }) => node), end, depth };
  const keys = items.filter((_, i) => i % 2 === 0);
  const values = items.filter((_, i) => i % 2 === 1);
  if (keys.some(({ value }) => !["number", "bigint", "string"].includes(typeof value))) throw new Unreadable();
  const map = new Map(keys.map(({ value }, i) => [value as unknown, (values[i] as Read).value]));
  if (map.size !== length) throw new Unreadable();
  return { value: map, node: { pairs: keys.map(({ node }, i) => [node, (values[i] as Read).node]) }, end, depth };
}
