/**
 * Looks for many needles at once: a hash of a few bytes rolls over the hay, and only where it is that of a needle's beginning
 * is anything compared. Tens of thousands of needles cost as little as one.
 */
import { closeSync, openSync, readSync } from "node:fs";

export type Needle = { name: string; bytes: Uint8Array };

/** Reads up to the length of `into` at a place of the hay; 0 at its end. */
type Read = (into: Uint8Array, at: number) => number;

export type Scanner = {
  count: number;
  /** The names of the needles that are in there. */
  scan(bytes: Uint8Array): Set<string>;
  /** A file that is gone holds nothing. */
  scanFile(path: string): { found: Set<string>; length: number };
  /** Piece by piece; what lies across two pieces is found. */
  scanFrom(read: Read): { found: Set<string>; length: number };
};

const base = 0x9e3779b1 | 0;
const filterBits = 24;
const pieceLength = 8 * 2 ** 20;

/** `width`: how many bytes are hashed at a time. No needle may be shorter. */
export function createScanner(needles: readonly Needle[], width = 16): Scanner {
  const byHash = new Map<number, Needle[]>();
  const filter = new Uint8Array(2 ** (filterBits - 3));
  let longest = width;
  for (const needle of needles) {
    if (needle.bytes.length < width) throw new Error(`${needle.name} is too short to be told from anything else`);
    const hash = hashOf(needle.bytes, width);
    byHash.set(hash, [...(byHash.get(hash) ?? []), needle]);
    const place = hash >>> (32 - filterBits);
    filter[place >>> 3] = (filter[place >>> 3] ?? 0) | (1 << (place & 7));
    longest = Math.max(longest, needle.bytes.length);
  }
  // What the byte that leaves the window counts for.
  let power = 1;
  for (let n = 0; n < width; n++) power = Math.imul(power, base);

  function scan(bytes: Uint8Array): Set<string> {
    const found = new Set<string>();
    if (bytes.length < width) return found;
    let hash = hashOf(bytes, width);
    for (let at = 0; ; at++) {
      const place = hash >>> (32 - filterBits);
      if (((filter[place >>> 3] as number) & (1 << (place & 7))) !== 0) {
        for (const { name, bytes: needle } of byHash.get(hash) ?? []) if (isAt(bytes, needle, at)) found.add(name);
      }
      if (at + width >= bytes.length) return found;
      hash = (Math.imul(hash, base) + (bytes[at + width] as number) - Math.imul(bytes[at] as number, power)) | 0;
    }
  }

  function scanFrom(read: Read): { found: Set<string>; length: number } {
    const found = new Set<string>();
    const piece = new Uint8Array(pieceLength);
    let kept = 0;
    let length = 0;
    for (;;) {
      const count = read(piece.subarray(kept), length);
      if (count === 0) return { found, length };
      length += count;
      const filled = piece.subarray(0, kept + count);
      for (const name of scan(filled)) found.add(name);
      kept = Math.min(longest - 1, filled.length);
      piece.copyWithin(0, filled.length - kept, filled.length);
    }
  }

  return {
    count: needles.length,
    scan,
    scanFrom,
    scanFile(path) {
      const file = openIfThere(path);
      if (file === undefined) return { found: new Set(), length: 0 };
      try {
        return scanFrom((into, at) => readSync(file, into, 0, into.length, at));
      } finally {
        closeSync(file);
      }
    },
  };
}

/** Databases do away with files of their own while one looks. */
function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function hashOf(bytes: Uint8Array, width: number): number {
  let hash = 0;
  for (let n = 0; n < width; n++) hash = (Math.imul(hash, base) + (bytes[n] as number)) | 0;
  return hash;
}

function isAt(hay: Uint8Array, needle: Uint8Array, at: number): boolean {
  if (at + needle.length > hay.length) return false;
  return needle.every((byte, n) => hay[at + n] === byte);
}
