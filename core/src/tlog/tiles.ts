/**
 * Tiles (C2SP tlog-tiles): a log as files that never change. A tile has up to 256 hashes of one row of the tree; the row of level L is every
 * 8 L-th of the tree. Tiles that are not full exist for each size that was signed. Paths: SPEC.md.
 */
import { Fault } from "../fault.ts";
import { type Hash, hashLength, sha256 } from "./hash.ts";
import { malformed, parseNumber } from "./lines.ts";
import { type HashReader, nodeHash, type TreeNode } from "./tree.ts";

export const tileWidth = 256;
const tileHeight = 8;
const maxLevel = 63;

/** `width` is the number of hashes or entries, 256 in a full tile. */
export type Tile = { level: number | "entries"; n: number; width: number };

const what = "tile path";

/** The path of a tile below the log's own, without a slash before it. */
export function tilePath(level: Tile["level"], n: number, width: number = tileWidth): string {
  const groups = [String(n % 1000).padStart(3, "0")];
  for (let rest = Math.floor(n / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    groups.unshift(`x${String(rest % 1000).padStart(3, "0")}`);
  }
  return `tile/${level}/${groups.join("/")}${width === tileWidth ? "" : `.p/${width}`}`;
}

/** Reads the path of a tile; every tile has one path. */
export function parseTilePath(path: string): Tile {
  const [, levelText = "", groups = "", widthText] =
    /^tile\/(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,5}[0-9]{3})(?:\.p\/([0-9]{1,3}))?$/.exec(path) ?? [];
  if (groups === "") throw malformed(what, "not of the form tile/level/number");
  const level = levelText === "entries" ? levelText : parseNumber(what, levelText);
  const n = Number(groups.replaceAll(/[x/]/g, ""));
  const width = widthText === undefined ? tileWidth : parseNumber(what, widthText);
  const isKnown =
    (level === "entries" || level <= maxLevel) && Number.isSafeInteger(n) && width > 0 && width <= tileWidth;
  if (!isKnown || tilePath(level, n, width) !== path) throw malformed(what, "not the one spelling of a tile");
  return { level, n, width };
}

/** How many hashes a row has at a size; entries have as many as level 0. */
function rowLength(level: Tile["level"], size: number): number {
  return level === "entries" ? size : Math.floor(size / tileWidth ** level);
}

/** How many hashes or entries a tile has in a log of this size: 256 if it is full, 0 if there is none yet. */
export function widthAt(level: Tile["level"], n: number, size: number): number {
  return Math.min(tileWidth, Math.max(0, rowLength(level, size) - tileWidth * n));
}

/** Every hash tile that a log has at a size. */
export function hashTilesAt(size: number): Tile[] {
  return newHashTiles(0, size);
}

/** The hash tiles of the new size that the old one does not have, level by level. Those of a partial tile begin with the hashes of the old one. */
export function newHashTiles(oldSize: number, newSize: number): Tile[] {
  const tiles: Tile[] = [];
  for (let level = 0; rowLength(level, newSize) > 0; level++) {
    if (rowLength(level, oldSize) === rowLength(level, newSize)) continue;
    tiles.push(...newTilesOf(level, oldSize, newSize));
  }
  return tiles;
}

/** The tiles of entries that the old size does not have. */
export function newEntryTiles(oldSize: number, newSize: number): Tile[] {
  return newTilesOf("entries", oldSize, newSize);
}

function newTilesOf(level: Tile["level"], oldSize: number, newSize: number): Tile[] {
  const tiles: Tile[] = [];
  const end = Math.ceil(rowLength(level, newSize) / tileWidth);
  for (let n = Math.floor(rowLength(level, oldSize) / tileWidth); n < end; n++) {
    const width = widthAt(level, n, newSize);
    if (width !== widthAt(level, n, oldSize)) tiles.push({ level, n, width });
  }
  return tiles;
}

/** The tile that a full subtree's hash is read from, as it is at a size. */
export function tileOf({ level, index }: TreeNode, size: number): Tile & { level: number } {
  const row = Math.floor(level / tileHeight);
  const n = Math.floor((index * 2 ** (level % tileHeight)) / tileWidth);
  return { level: row, n, width: widthAt(row, n, size) };
}

/** Reads hashes out of the tiles of a log of this size. `read` gives a tile's bytes; one of another length is refused. */
export function tileHashReader(size: number, read: (tile: Tile) => Uint8Array, hash: Hash = sha256): HashReader {
  return (level, index) => {
    const tile = tileOf({ level, index }, size);
    const bytes = read(tile);
    if (bytes.length !== tile.width * hashLength) throw malformed("tile", `not ${tile.width} hashes`);
    const count = 2 ** (level % tileHeight);
    const first = (index * count) % tileWidth;
    if (first + count > tile.width)
      throw new Fault("internal", `the log has no full subtree ${index} of level ${level}`);
    return rootOfRow(bytes.subarray(first * hashLength, (first + count) * hashLength), hash);
  };
}

/** The root over the hashes of a row, a power of two of them: from a full tile, the hash that stands for it one level up. */
export function rootOfRow(bytes: Uint8Array, hash: Hash = sha256): Uint8Array {
  if (bytes.length === hashLength) return bytes.slice();
  if (bytes.length % (2 * hashLength) !== 0) throw new Fault("internal", "not a power of two of hashes");
  const middle = bytes.length / 2;
  return nodeHash(rootOfRow(bytes.subarray(0, middle), hash), rootOfRow(bytes.subarray(middle), hash), hash);
}

/** Writes a tile of entries: each with its length in two bytes before it. */
export function encodeEntries(entries: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(entries.reduce((sum, { length }) => sum + 2 + length, 0));
  let at = 0;
  for (const entry of entries) {
    if (entry.length > 0xffff) throw new Fault("internal", "an entry of more than 65,535 bytes");
    bytes[at] = entry.length >> 8;
    bytes[at + 1] = entry.length & 0xff;
    bytes.set(entry, at + 2);
    at += 2 + entry.length;
  }
  return bytes;
}

/** Reads a tile of entries. */
export function decodeEntries(bytes: Uint8Array): Uint8Array[] {
  const entries: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [high, low] = [bytes[at], bytes[at + 1]];
    if (high === undefined || low === undefined) throw malformed("tile of entries", "too short");
    const end = at + 2 + high * 256 + low;
    if (end > bytes.length) throw malformed("tile of entries", "too short");
    entries.push(bytes.subarray(at + 2, end));
    at = end;
  }
  if (entries.length > tileWidth) throw malformed("tile of entries", `more than ${tileWidth}`);
  return entries;
}
