/**
 * Numbers by id of 16 bytes, each with some bytes beside it, in one open-addressed table of typed memory. A Map of objects would be several
 * times as large.
 */
import { randomBytes } from "node:crypto";

export type IdTable = {
  readonly size: number;
  /** 0 for an id that is not there. */
  numberOf(id: Uint8Array): number;
  /** The bytes beside the number, as a copy. */
  restOf(id: Uint8Array): Uint8Array;
  /** The number is at least 1: 0 marks an empty slot. */
  set(id: Uint8Array, number: number, rest: Uint8Array): void;
  entries(): Generator<{ id: Uint8Array; number: number; rest: Uint8Array }>;
};

const idLength = 16;
const restAt = idLength + 8;

export function isSameId(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < idLength; i++) if (a[i] !== b[i]) return false;
  return true;
}

export function createIdTable(restLength: number): IdTable {
  const slotLength = restAt + restLength;
  let capacity = 1024;
  let bytes = new Uint8Array(capacity * slotLength);
  let view = new DataView(bytes.buffer);
  let size = 0;

  // Ids are hashes of bodies that users choose; seeds of our own keep them from choosing ids that pile up in one place.
  const seed = new DataView(Uint8Array.from(randomBytes(8)).buffer);
  const [seedA, seedB] = [seed.getUint32(0) | 1, seed.getUint32(4) | 1];

  /** The slot that holds `id`, or the empty one where it belongs. */
  function find(id: Uint8Array): number {
    const words = new DataView(id.buffer, id.byteOffset, idLength);
    const mixed = Math.imul(words.getUint32(0) ^ seedB, seedA) ^ Math.imul(words.getUint32(12) ^ seedA, seedB);
    let slot = (mixed ^ (mixed >>> 15)) & (capacity - 1);
    for (;;) {
      const at = slot * slotLength;
      if (numberAt(at) === 0 || sameId(at, id)) return at;
      slot = (slot + 1) & (capacity - 1);
    }
  }
  function sameId(at: number, id: Uint8Array): boolean {
    for (let i = 0; i < idLength; i++) if (bytes[at + i] !== id[i]) return false;
    return true;
  }
  function numberAt(at: number): number {
    return view.getUint32(at + idLength) * 2 ** 32 + view.getUint32(at + idLength + 4);
  }
  function write(at: number, id: Uint8Array, number: number, rest: Uint8Array): void {
    bytes.set(id, at);
    view.setUint32(at + idLength, Math.floor(number / 2 ** 32));
    view.setUint32(at + idLength + 4, number >>> 0);
    bytes.set(rest, at + restAt);
  }
  function grow(): void {
    const old = [...entries()];
    capacity *= 2;
    bytes = new Uint8Array(capacity * slotLength);
    view = new DataView(bytes.buffer);
    for (const { id, number, rest } of old) write(find(id), id, number, rest);
  }
  function* entries(): ReturnType<IdTable["entries"]> {
    const [table, count] = [bytes, capacity];
    for (let slot = 0; slot < count; slot++) {
      const at = slot * slotLength;
      const number = numberAt(at);
      if (number === 0) continue;
      yield { id: table.subarray(at, at + idLength), number, rest: table.subarray(at + restAt, at + slotLength) };
    }
  }

  return {
    get size() {
      return size;
    },
    numberOf: (id) => numberAt(find(id)),
    restOf(id) {
      const at = find(id);
      return bytes.slice(at + restAt, at + slotLength);
    },
    set(id, number, rest) {
      const at = find(id);
      if (numberAt(at) === 0) {
        size += 1;
        if (size * 10 > capacity * 7) {
          grow();
          write(find(id), id, number, rest);
          return;
        }
      }
      write(at, id, number, rest);
    },
    entries,
  };
}
