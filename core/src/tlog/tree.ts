/**
 * The Merkle tree of RFC 6962 over a list of entries: its hashes, its right edge, and proofs. Positions are numbers up to 2^53, so nothing here
 * shifts bits: JavaScript would do that in 32 of them.
 */
import { sameBytes } from "../encoding/bytes.ts";
import { Fault } from "../fault.ts";
import { type Hash, hashLength, sha256 } from "./hash.ts";
import { malformed } from "./lines.ts";

/** The hash of the full subtree that covers the entries from index · 2^level on, 2^level of them. Level 0 has the leaf hashes. */
export type HashReader = (level: number, index: number) => Uint8Array;

/** The place of a full subtree. */
export type TreeNode = { level: number; index: number };

/** The root of the tree without entries: the hash of nothing. */
export const emptyRoot: Uint8Array = sha256(new Uint8Array());

/** What is hashed next. One buffer for all: allocating it each time would cost as much as hashing it. */
const nodeInput = new Uint8Array(1 + 2 * hashLength).fill(1, 0, 1);
const leafInput = new Uint8Array(1 + hashLength);

/** The hash of an entry as a leaf of the tree. */
export function leafHash(entry: Uint8Array, hash: Hash = sha256): Uint8Array {
  if (entry.length !== hashLength) {
    const input = new Uint8Array(1 + entry.length);
    input.set(entry, 1);
    return hash(input);
  }
  leafInput.set(entry, 1);
  return hash(leafInput);
}

/** The hash of two subtrees. The first byte keeps a node from ever being read as a leaf. */
export function nodeHash(left: Uint8Array, right: Uint8Array, hash: Hash = sha256): Uint8Array {
  // Hashes of other lengths could share the 64 bytes in another way.
  if (left.length !== hashLength || right.length !== hashLength)
    throw new Fault("internal", "not the hashes of a tree");
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + hashLength);
  return hash(nodeInput);
}

/** The root of the tree over all entries. */
export function rootOf(entries: Iterable<Uint8Array>, hash: Hash = sha256): Uint8Array {
  const frontier = new Frontier(hash);
  for (const entry of entries) frontier.append(entry);
  return frontier.root();
}

/** The right edge of a growing tree: all that appending and the root need. It holds one hash for each bit that is set in the size. */
export class Frontier {
  readonly #hash: Hash;
  /** Of the full subtrees, the largest and leftmost first. */
  #hashes: Uint8Array[] = [];
  #size = 0;

  constructor(hash: Hash = sha256) {
    this.#hash = hash;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds an entry. On average it costs two hashes. */
  append(entry: Uint8Array): void {
    let right = leafHash(entry, this.#hash);
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      right = nodeHash(this.#hashes.pop() as Uint8Array, right, this.#hash);
    }
    this.#hashes.push(right);
    this.#size += 1;
  }

  root(): Uint8Array {
    return joined(this.#hashes, this.#hash) ?? emptyRoot;
  }

  copy(): Frontier {
    return Frontier.#of(this.#size, [...this.#hashes], this.#hash);
  }

  /** The size in eight bytes, then the hashes. */
  toBytes(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(8 + this.#hashes.length * hashLength);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(this.#size));
    this.#hashes.forEach((hash, i) => {
      bytes.set(hash, 8 + i * hashLength);
    });
    return bytes;
  }

  static fromBytes(bytes: Uint8Array, hash: Hash = sha256): Frontier {
    if (bytes.length < 8) throw malformed("edge of a tree", "too short");
    const size = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0));
    if (!Number.isSafeInteger(size)) throw malformed("edge of a tree", "too large a size");
    const { length } = nodesOf(0, size);
    if (bytes.length !== 8 + length * hashLength) throw malformed("edge of a tree", "not the hashes of its size");
    const hashes = Array.from({ length }, (_, i) => bytes.slice(8 + i * hashLength, 8 + (i + 1) * hashLength));
    return Frontier.#of(size, hashes, hash);
  }

  /** The edge at a size, from the hashes of a tree that has at least this size. */
  static at(size: number, read: HashReader, hash: Hash = sha256): Frontier {
    return Frontier.#of(
      size,
      nodesOf(0, size).map(({ level, index }) => read(level, index)),
      hash,
    );
  }

  static #of(size: number, hashes: Uint8Array[], hash: Hash): Frontier {
    const frontier = new Frontier(hash);
    frontier.#hashes = hashes;
    frontier.#size = size;
    return frontier;
  }
}

/** All hashes of a tree in memory, from its leaf hashes. */
export function hashReaderOf(leafHashes: readonly Uint8Array[], hash: Hash = sha256): HashReader {
  const levels: (readonly Uint8Array[])[] = [];
  for (let row = leafHashes; row.length > 0; ) {
    levels.push(row);
    const below = row;
    row = Array.from({ length: Math.floor(below.length / 2) }, (_, i) =>
      nodeHash(below[2 * i] as Uint8Array, below[2 * i + 1] as Uint8Array, hash),
    );
  }
  return (level, index) => {
    const found = levels[level]?.[index];
    if (found === undefined) throw new Fault("internal", `the tree has no full subtree ${index} of level ${level}`);
    return found;
  };
}

/** Entries from `begin` up to `end`. `begin` is a multiple of the smallest power of two that is as large as the range. */
type Range = readonly [begin: number, end: number];

/** The full subtrees that make up a range, left to right. */
function nodesOf(begin: number, end: number): TreeNode[] {
  const nodes: TreeNode[] = [];
  let [level, width] = [0, 1];
  while (2 * width <= end - begin) [level, width] = [level + 1, 2 * width];
  for (let at = begin; at < end; [level, width] = [level - 1, width / 2]) {
    if (width > end - at) continue;
    nodes.push({ level, index: at / width });
    at += width;
  }
  return nodes;
}

/** The root over full subtrees, the largest first; undefined for none. */
function joined(hashes: readonly Uint8Array[], hash: Hash): Uint8Array | undefined {
  return hashes.length === 0 ? undefined : hashes.reduceRight((right, left) => nodeHash(left, right, hash));
}

function hashRange([begin, end]: Range, read: HashReader, hash: Hash): Uint8Array {
  const hashes = nodesOf(begin, end).map(({ level, index }) => read(level, index));
  return joined(hashes, hash) ?? emptyRoot;
}

/** Where a tree of more than one entry parts: the left side is a full subtree, as large as it can be. */
function leftWidth([begin, end]: Range): number {
  let width = 1;
  while (2 * width < end - begin) width *= 2;
  return width;
}

/** The ranges whose hashes prove an entry, from its sibling up (RFC 6962, section 2.1.1). */
function inclusionRanges(index: number, size: number): Range[] {
  if (!isIndex(index) || !isIndex(size) || index >= size) throw notThere(`entry ${index}`, size);
  const ranges: Range[] = [];
  let [begin, end] = [0, size];
  while (end - begin > 1) {
    const middle = begin + leftWidth([begin, end]);
    if (index < middle) {
      ranges.push([middle, end]);
      end = middle;
    } else {
      ranges.push([begin, middle]);
      begin = middle;
    }
  }
  return ranges.reverse();
}

/** The ranges whose hashes prove that a tree grew out of a smaller one (RFC 6962, section 2.1.2). */
function consistencyRanges(oldSize: number, newSize: number): Range[] {
  if (!isIndex(oldSize) || !isIndex(newSize) || oldSize > newSize || oldSize === 0)
    throw notThere(`size ${oldSize}`, newSize);
  const ranges: Range[] = [];
  let [begin, end] = [0, newSize];
  while (oldSize !== end) {
    const middle = begin + leftWidth([begin, end]);
    if (oldSize <= middle) {
      ranges.push([middle, end]);
      end = middle;
    } else {
      ranges.push([begin, middle]);
      begin = middle;
    }
  }
  // From the left edge on it is the old root itself, which the verifier has.
  if (begin > 0) ranges.push([begin, end]);
  return ranges.reverse();
}

/** The hashes that prove entry `index` in the tree of this size. */
export function inclusionProof(index: number, size: number, read: HashReader, hash: Hash = sha256): Uint8Array[] {
  return inclusionRanges(index, size).map((range) => hashRange(range, read, hash));
}

/** The hashes that prove that the tree of the new size begins with the tree of the old size, which is not 0. */
export function consistencyProof(
  oldSize: number,
  newSize: number,
  read: HashReader,
  hash: Hash = sha256,
): Uint8Array[] {
  return consistencyRanges(oldSize, newSize).map((range) => hashRange(range, read, hash));
}

/** What `inclusionProof` will read: for callers that must fetch it first. */
export function inclusionNodes(index: number, size: number): TreeNode[] {
  return inclusionRanges(index, size).flatMap(([begin, end]) => nodesOf(begin, end));
}

/** What `consistencyProof` will read. */
export function consistencyNodes(oldSize: number, newSize: number): TreeNode[] {
  return consistencyRanges(oldSize, newSize).flatMap(([begin, end]) => nodesOf(begin, end));
}

/** Whether the proof shows this leaf hash at `index` in the tree of this size and root. */
export function verifyInclusion(
  index: number,
  size: number,
  leaf: Uint8Array,
  proof: readonly Uint8Array[],
  root: Uint8Array,
  hash: Hash = sha256,
): boolean {
  if (!isIndex(index) || !isIndex(size) || index >= size || !areHashes([leaf, ...proof])) return false;
  let [at, last, seen] = [index, size - 1, leaf];
  for (const sibling of proof) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      seen = nodeHash(sibling, seen, hash);
      // The right edge of a tree that is not full skips the levels where it has no sibling.
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      seen = nodeHash(seen, sibling, hash);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && sameBytes(seen, root);
}

/**
 * Whether the proof shows that the tree of the new size and root begins with that of the old. Nothing can be shown from size 0: every tree begins
 * with no entries, so callers that start there must say so themselves.
 */
export function verifyConsistency(
  oldSize: number,
  newSize: number,
  proof: readonly Uint8Array[],
  oldRoot: Uint8Array,
  newRoot: Uint8Array,
  hash: Hash = sha256,
): boolean {
  if (!isIndex(oldSize) || !isIndex(newSize) || oldSize === 0 || oldSize > newSize) return false;
  if (oldSize === newSize) return proof.length === 0 && sameBytes(oldRoot, newRoot);
  if (proof.length === 0 || !areHashes([oldRoot, newRoot, ...proof])) return false;
  let [at, last] = [oldSize - 1, newSize - 1];
  while (at % 2 === 1) [at, last] = [half(at), half(last)];
  // The old tree is one full subtree of the new: its root begins the proof.
  const [first = oldRoot, ...rest] = at === 0 ? [oldRoot, ...proof] : proof;
  let [seenOld, seenNew] = [first, first];
  for (const sibling of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      seenOld = nodeHash(sibling, seenOld, hash);
      seenNew = nodeHash(sibling, seenNew, hash);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      seenNew = nodeHash(seenNew, sibling, hash);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && sameBytes(seenOld, oldRoot) && sameBytes(seenNew, newRoot);
}

function half(n: number): number {
  return Math.floor(n / 2);
}

function isIndex(n: number): boolean {
  return Number.isSafeInteger(n) && n >= 0;
}

function areHashes(hashes: readonly Uint8Array[]): boolean {
  return hashes.every(({ length }) => length === hashLength);
}

function notThere(what: string, size: number): Fault {
  return new Fault("invalid_argument", `a tree of size ${size} has no proof of ${what}`);
}
