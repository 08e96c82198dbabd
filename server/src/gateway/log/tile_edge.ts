/** The right edge of a log, as tiles: the hashes of those that are not full. All that new tiles and the root take. */
import { Fault } from "@keystead/core/fault.ts";
import { rootOfRow, tileHashReader, tileWidth } from "@keystead/core/tlog/tiles.ts";
import { Frontier, leafHash } from "@keystead/core/tlog/tree.ts";
import { sha256 } from "../../state/digest.ts";
import { readEntries } from "../../store/log_rows.ts";
import { listEntries, listTileRoots, type TileRow } from "../../store/public_log.ts";
import type { Store } from "../../store/store.ts";

export class TileEdge {
  readonly #rows: Uint8Array[][];
  #size: number;

  constructor(size = 0, rows: Uint8Array[][] = []) {
    this.#size = size;
    this.#rows = rows;
  }

  get size(): number {
    return this.#size;
  }

  copy(): TileEdge {
    return new TileEdge(
      this.#size,
      this.#rows.map((row) => [...row]),
    );
  }

  /** Adds an entry; the tiles that it fills. */
  append(entry: Uint8Array): TileRow[] {
    const position = this.#size;
    this.#size += 1;
    const filled: TileRow[] = [];
    let hash = leafHash(entry, sha256);
    for (let level = 0; ; level++) {
      this.#rows[level] ??= [];
      const row = this.#rows[level] ?? [];
      row.push(hash);
      if (row.length < tileWidth) return filled;
      const hashes = Buffer.concat(row);
      hash = rootOfRow(hashes, sha256);
      filled.push({ level, number: Math.floor(position / tileWidth ** (level + 1)), hashes, root: hash });
      this.#rows[level] = [];
    }
  }

  root(): Uint8Array {
    const read = tileHashReader(this.#size, ({ level }) => Buffer.concat(this.#rows[Number(level)] ?? []), sha256);
    return Frontier.at(this.#size, read, sha256).root();
  }
}

/** The edge at a size, from full tiles and entries that are stored. */
export async function loadEdge(store: Store, logId: string, size: number): Promise<TileEdge> {
  const first = size - (size % tileWidth);
  const rows = [(await loadEntries(store, logId, first, size)).map((entry) => leafHash(entry, sha256))];
  for (let level = 1; tileWidth ** level <= size; level++) {
    const to = Math.floor(size / tileWidth ** level);
    const from = to - (to % tileWidth);
    rows.push(await loadRoots(store, logId, level - 1, from, to));
  }
  return new TileEdge(size, rows);
}

/** What stands for full tiles one level up, for all of them. */
export async function loadRoots(
  store: Store,
  logId: string,
  level: number,
  from: number,
  to: number,
): Promise<Uint8Array[]> {
  const roots = await listTileRoots(store, logId, level, from, to);
  if (roots.length < to - from) throw lostRows(logId);
  return roots;
}

/** All entries of a part of a log that begins with a tile. */
export async function loadEntries(store: Store, logId: string, from: number, to: number): Promise<Uint8Array[]> {
  const entries: Uint8Array[] = [];
  for (const row of await listEntries(store, logId, from, to)) {
    if (row.first !== from + entries.length) throw lostRows(logId);
    entries.push(...readEntries(row));
  }
  if (entries.length < to - from) throw lostRows(logId);
  return entries.slice(0, to - from);
}

function lostRows(logId: string): Fault {
  return new Fault(
    "internal",
    `log ${logId}: rows are missing; stop the server and run \`npx keystead check-database\`, ` +
      "or after a restore `npx keystead accept-database`",
  );
}
