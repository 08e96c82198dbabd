/** Entries and tiles of one log, held against each other, against the leaves that they stand for, and against the signed root. */

import { toHex } from "@keystead/core/encoding/hex.ts";
import { uuidToBytes } from "@keystead/core/encoding/uuid.ts";
import { entryOf } from "@keystead/core/tlog/entry.ts";
import { rootOfRow, tileWidth } from "@keystead/core/tlog/tiles.ts";
import { leafHash } from "@keystead/core/tlog/tree.ts";
import { withoutMac } from "../../state/authenticity.ts";
import { equalBytes as sameBytes, sha256 } from "../../state/digest.ts";
import { findLeaf } from "../../store/leaves.ts";
import {
  deleteTile,
  entriesOfTile,
  findTileRow,
  listTilesBeyond,
  placesCovering,
  replaceEntries,
  replaceTile,
} from "../../store/log_checks.ts";
import { entryLength, type NamedPlace, readEntries, readOrganizations } from "../../store/log_rows.ts";
import type { TileRow } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";
import type { Tables } from "../../store/tables.ts";
import { TileEdge } from "../log/tile_edge.ts";
import type { Findings } from "./check_findings.ts";

export type LogRowsCheck = {
  store: Store;
  logId: string;
  /** How far the log goes. */
  size: number;
  /** How far it is signed, and the root there. */
  signed: { size: number; root: Uint8Array } | undefined;
  /** Whose leaf stands at a position, by the runs. */
  ownerAt(position: number): string | undefined;
  findings: Findings;
};

/** Entries of each tile, as far as anything can be said. Where nothing can, the tile is left out. */
export async function checkLogRows(check: LogRowsCheck): Promise<void> {
  const { store, logId, size, signed, findings } = check;
  const edge = new TileEdge();
  let isWhole = true;
  for (let n = 0; n * tileWidth < size; n++) {
    const width = Math.min(tileWidth, size - n * tileWidth);
    const entries = await checkTile(check, n, width, signed !== undefined && (n + 1) * tileWidth <= signed.size);
    isWhole &&= entries !== undefined;
    if (entries === undefined || !isWhole) continue;
    for (const entry of entries) {
      if (signed?.size === edge.size) checkRoot(check, edge);
      for (const tile of edge.append(entry)) if (tile.level > 0) await checkUpperTile(check, tile);
    }
  }
  if (isWhole && signed?.size === edge.size) checkRoot(check, edge);
  if (isWhole && signed !== undefined && signed.size > edge.size)
    findings.lost(`log_entries: ${signed.size} are signed, and there are ${edge.size}`);
  for (const { level, number } of await listTilesBeyond(store, logId, signed?.size ?? 0)) {
    if (findings.differs(`log_tiles ${level} ${number}: the log is not signed that far`))
      await deleteTile(store, logId, { level, number });
  }
}

function checkRoot({ signed, findings }: LogRowsCheck, edge: TileEdge): void {
  if (signed === undefined || signed.size === 0 || toHex(edge.root()) === toHex(signed.root)) return;
  findings.lost(`log_entries: those below ${signed.size} do not add up to the root that the signer has signed`);
}

/** The tiles above follow from those below. */
async function checkUpperTile({ store, logId, signed, findings }: LogRowsCheck, tile: TileRow): Promise<void> {
  const { level, number } = tile;
  if ((number + 1) * tileWidth ** (level + 1) > (signed?.size ?? 0)) return;
  const stored = await findTileRow(store, logId, level, number);
  if (stored !== undefined && isSame(stored, tile)) return;
  if (findings.differs(`log_tiles ${level} ${number}: not what follows from the tiles below it`))
    await replaceTile(store, logId, tile);
}

function isSame(one: TileRow, other: TileRow): boolean {
  return sameBytes(one.hashes, other.hashes) && sameBytes(one.root, other.root);
}

/** Of two of the three that agree, the third is rebuilt: entries, tile, and leaves with their runs. */
async function checkTile(
  check: LogRowsCheck,
  n: number,
  width: number,
  hasTile: boolean,
): Promise<Uint8Array[] | undefined> {
  const { store, logId, findings } = check;
  const rows = await entriesOfTile(store, logId, n);
  const entries = joined(rows, n, width);
  const tile = hasTile ? await findTileRow(store, logId, 0, n) : undefined;
  const own = entries && tileOf(n, entries);
  const isTileRight = !hasTile || (tile !== undefined && own !== undefined && isSame(tile, own));
  if (entries !== undefined && isTileRight) {
    await checkOwners(check, n, rows);
    return entries;
  }
  const remade = await remakeEntries(check, n, width);
  if (
    entries !== undefined &&
    own !== undefined &&
    (tile === undefined || remade === undefined || areSame(entries, remade))
  ) {
    if (remade === undefined && tile !== undefined) {
      findings.lost(`log_tiles 0 ${n}: it is not made of the entries, and no leaves tell which is right`);
      return entries;
    }
    if (findings.differs(`log_tiles 0 ${n}: not what follows from the entries`)) await replaceTile(store, logId, own);
    return entries;
  }
  const isRemadeRight = remade !== undefined && (tile === undefined || isSame(tile, tileOf(n, remade)));
  if (remade === undefined || !isRemadeRight) {
    findings.lost(`log_entries of tile ${n}: rows are missing or changed, and the leaves do not tell what stood there`);
    return undefined;
  }
  if (findings.differs(`log_entries of tile ${n}: not what the leaves and their runs say`))
    await replaceEntries(store, logId, n, [toRow(check, n, remade)]);
  return remade;
}

function tileOf(n: number, entries: readonly Uint8Array[]): TileRow {
  const hashes = Buffer.concat(entries.map((entry) => leafHash(entry, sha256)));
  return { level: 0, number: n, hashes, root: entries.length === tileWidth ? rootOfRow(hashes, sha256) : hashes };
}

function areSame(some: readonly Uint8Array[], others: readonly Uint8Array[]): boolean {
  return sameBytes(Buffer.concat(some), Buffer.concat(others));
}

/** Without a gap, without an overlap, and exactly so many; else undefined. */
function joined(rows: readonly Tables["log_entries"][], n: number, width: number): Uint8Array[] | undefined {
  const entries: Uint8Array[] = [];
  for (const row of rows) {
    if (row.first_position !== n * tileWidth + entries.length || row.entries.length % entryLength !== 0)
      return undefined;
    entries.push(...readEntries(row));
  }
  return entries.length === width ? entries : undefined;
}

/** By the leaves that runs name. Undefined where one is lacking, or two are named for one position. */
async function remakeEntries(
  { store, logId }: LogRowsCheck,
  n: number,
  width: number,
): Promise<Uint8Array[] | undefined> {
  const first = n * tileWidth;
  const places = await placesCovering(store, logId, first, first + width - 1);
  if (new Set(places.map(({ position }) => position)).size !== width || places.length !== width) return undefined;
  const entries: Uint8Array[] = [];
  for (const place of places.sort((a, b) => a.position - b.position)) {
    const entry = await remakeEntry(store, place);
    if (entry === undefined) return undefined;
    entries.push(entry);
  }
  return entries;
}

async function remakeEntry(store: Store, { organizationId, boot, number, ordinal }: NamedPlace) {
  const row = await findLeaf(store, organizationId, boot, number);
  return row && entryOfLeaf(row.leaf, ordinal);
}

/** Undefined for bytes that are no leaf. */
export function entryOfLeaf(marked: Uint8Array, ordinal: number): Uint8Array | undefined {
  try {
    return entryOf(sha256(withoutMac(marked)), ordinal, sha256);
  } catch {
    return undefined;
  }
}

/** Whose runs name the leaves behind a row. */
async function checkOwners(check: LogRowsCheck, n: number, rows: readonly Tables["log_entries"][]): Promise<void> {
  const { store, logId, ownerAt, findings } = check;
  const mended = rows.map((row) => {
    const count = row.entries.length / entryLength;
    const owners = Array.from({ length: count }, (_, at) => ownerAt(row.first_position + at));
    // Where a run is missing, its own check says so.
    if (owners.includes(undefined) || isNamed(row, owners)) return row;
    return { ...row, organizations: ownersOf(owners) };
  });
  if (mended.every((row, index) => row === rows[index])) return;
  if (findings.differs(`log_entries of tile ${n}: organizations not as in the runs`))
    await replaceEntries(store, logId, n, mended);
}

function isNamed(row: Tables["log_entries"], owners: readonly (string | undefined)[]): boolean {
  try {
    const named = new Set(readOrganizations(row));
    return named.symmetricDifference(new Set(owners)).size === 0;
  } catch {
    return false;
  }
}

function ownersOf(owners: readonly (string | undefined)[]): Uint8Array {
  return Buffer.concat([...new Set(owners)].flatMap((id) => (id === undefined ? [] : [uuidToBytes(id)])));
}

function toRow({ logId, ownerAt }: LogRowsCheck, n: number, entries: readonly Uint8Array[]): Tables["log_entries"] {
  const first = n * tileWidth;
  const owners = entries.map((_, at) => ownerAt(first + at));
  return { log_id: logId, first_position: first, organizations: ownersOf(owners), entries: Buffer.concat(entries) };
}
