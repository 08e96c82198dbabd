/**
 * Per organization, the newest state this signer has released: version and half a digest, 24 bytes, in one open-addressed
 * table of typed memory. A million organizations are 57 MB here; a Map of objects would be several times that.
 */

import { randomBytes } from "node:crypto";

/** The first half of a SHA-256 digest: 128 bits against a second preimage, which is what an attacker would need. */
export const pinDigestLength = 16;

export type Pin = { version: number; digest: Uint8Array };

const slotLength = 40; // organization (16) ‖ version (8) ‖ digest (16); version 0 marks an empty slot

export type Pins = {
  readonly size: number;
  get(organizationId: Uint8Array): Pin | undefined;
  set(organizationId: Uint8Array, pin: Pin): void;
  entries(): Generator<{ organizationId: Uint8Array; pin: Pin }>;
};

export function createPins(): Pins {
  let capacity = 1024;
  let bytes = new Uint8Array(capacity * slotLength);
  let view = new DataView(bytes.buffer);
  let size = 0;

  // Ids are hashes of bodies that users choose; seeds of our own keep them from choosing ids that pile up in one place.
  const seed = new DataView(Uint8Array.from(randomBytes(8)).buffer);
  const [seedA, seedB] = [seed.getUint32(0) | 1, seed.getUint32(4) | 1];

  /** The slot that holds `id`, or the empty one where it belongs. */
  function find(id: Uint8Array): number {
    const words = new DataView(id.buffer, id.byteOffset, 16);
    const mixed = Math.imul(words.getUint32(0) ^ seedB, seedA) ^ Math.imul(words.getUint32(12) ^ seedA, seedB);
    let slot = (mixed ^ (mixed >>> 15)) & (capacity - 1);
    for (;;) {
      const at = slot * slotLength;
      if (readVersion(at) === 0 || sameId(at, id)) return at;
      slot = (slot + 1) & (capacity - 1);
    }
  }
  function sameId(at: number, id: Uint8Array): boolean {
    for (let i = 0; i < 16; i++) if (bytes[at + i] !== id[i]) return false;
    return true;
  }
  function readVersion(at: number): number {
    return view.getUint32(at + 16) * 2 ** 32 + view.getUint32(at + 20);
  }
  function write(at: number, id: Uint8Array, { version, digest }: Pin): void {
    bytes.set(id, at);
    view.setUint32(at + 16, Math.floor(version / 2 ** 32));
    view.setUint32(at + 20, version >>> 0);
    bytes.set(digest.subarray(0, pinDigestLength), at + 24);
  }
  function grow(): void {
    const old = [...entries()];
    capacity *= 2;
    bytes = new Uint8Array(capacity * slotLength);
    view = new DataView(bytes.buffer);
    for (const { organizationId, pin } of old) write(find(organizationId), organizationId, pin);
  }
  function* entries(): Generator<{ organizationId: Uint8Array; pin: Pin }> {
    const [table, count] = [bytes, capacity];
    for (let slot = 0; slot < count; slot++) {
      const at = slot * slotLength;
      const version = readVersion(at);
      if (version === 0) continue;
      yield {
        organizationId: table.subarray(at, at + 16),
        pin: { version, digest: table.subarray(at + 24, at + slotLength) },
      };
    }
  }

  return {
    get size() {
      return size;
    },
    get(id) {
      const at = find(id);
      const version = readVersion(at);
      return version === 0 ? undefined : { version, digest: bytes.slice(at + 24, at + slotLength) };
    },
    set(id, pin) {
      const at = find(id);
      if (readVersion(at) === 0) {
        size += 1;
        if (size * 10 > capacity * 7) {
          grow();
          write(find(id), id, pin);
          return;
        }
      }
      write(at, id, pin);
    },
    entries,
  };
}
