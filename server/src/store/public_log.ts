/**
 * The public log: entries, full tiles and checkpoints. They belong to no organization: they are digests that tell nothing, and everybody may
 * have them. Functions here therefore name none, like those of `across.ts`.
 */
import { sql } from "kysely";
import { compiled } from "./compiled.ts";
import { type NamedPlace, readEntries } from "./log_rows.ts";
import { beforePosition, type PositionRange, withinRange } from "./log_runs.ts";
import { read } from "./read.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

export type LogRow = Tables["logs"];

const allLogs = compiled("logs", (db) => db.selectFrom("logs").selectAll().orderBy("opened_at_ms").orderBy("log_id"));

/** The oldest first. */
export async function listLogs(store: Store): Promise<LogRow[]> {
  return (await allLogs(store)).map((row) => ({ ...row }));
}

const oneLog = compiled("log", (db, logId: string) => db.selectFrom("logs").selectAll().where("log_id", "=", logId));

export async function findLog(store: Store, logId: string): Promise<LogRow | undefined> {
  const [row] = await oneLog(store, logId);
  return row && { ...row };
}

/** Notes a log, if it is not there yet. */
export async function keepLog({ db }: Store, logId: string, origin: string, nowMs: number): Promise<void> {
  const row = { log_id: logId, origin, is_open: 1, opened_at_ms: nowMs, checkpoint_size: 0, cosignatures: "" };
  await db
    .insertInto("logs")
    .values({ ...row, checkpoint: null })
    .onConflict((clash) => clash.column("log_id").doNothing())
    .execute();
}

/** These logs, and no others, are followed by another. */
export async function noteEndedLogs({ db }: Store, ended: readonly string[]): Promise<void> {
  for (const { logId, isOpen } of await openLogs(db)) {
    const shouldBe = ended.includes(logId) ? 0 : 1;
    if (isOpen !== shouldBe)
      await db.updateTable("logs").set({ is_open: shouldBe }).where("log_id", "=", logId).execute();
  }
}

function openLogs(db: Store["db"]): Promise<{ logId: string; isOpen: number }[]> {
  return read(db.selectFrom("logs").select(["log_id as logId", "is_open as isOpen"]));
}

const lastEntries = compiled("last_log_entries", (db, logId: string) =>
  db
    .selectFrom("log_entries")
    .select(["first_position as first", "entries"])
    .where("log_id", "=", logId)
    .orderBy("first_position", "desc")
    .limit(1),
);

/** The position behind the last one that is stored. */
export async function findStoredEnd(store: Store, logId: string): Promise<number> {
  const [row] = await lastEntries(store, logId);
  return row === undefined ? 0 : row.first + readEntries(row).length;
}

const entriesFrom = compiled("log_entries", (db, logId: string, from: number, to: number, limit: number) =>
  db
    .selectFrom("log_entries")
    .select(["first_position as first", "organizations", "entries"])
    .where("log_id", "=", logId)
    .where("first_position", ">=", from)
    .where("first_position", "<", to)
    .orderBy("first_position")
    .limit(limit),
);

export type EntriesRow = { first: number; organizations: Uint8Array; entries: Uint8Array };

/** Rows of entries that begin in this part of a log. No row goes beyond a tile: from the first position of one, none is missed. */
export async function listEntries(store: Store, logId: string, from: number, to: number): Promise<EntriesRow[]> {
  return (await entriesFrom(store, logId, from, to, to - from)).map((row) => ({ ...row }));
}

export type TileRow = { level: number; number: number; hashes: Uint8Array; root: Uint8Array };

const oneTile = compiled("log_tile", (db, logId: string, level: number, number: number) =>
  db
    .selectFrom("log_tiles")
    .select("hashes")
    .where("log_id", "=", logId)
    .where("level", "=", level)
    .where("number", "=", number),
);

/** A full tile. */
export async function findTile(
  store: Store,
  logId: string,
  level: number,
  number: number,
): Promise<Uint8Array | undefined> {
  const [row] = await oneTile(store, logId, level, number);
  return row?.hashes;
}

const tileRoots = compiled("log_tile_roots", (db, logId: string, level: number, from: number, to: number) =>
  db
    .selectFrom("log_tiles")
    .select(["number", "root"])
    .where("log_id", "=", logId)
    .where("level", "=", level)
    .where("number", ">=", from)
    .where("number", "<", to)
    .orderBy("number"),
);

/** What stands for these full tiles one level up; fewer where some are not there. */
export async function listTileRoots(
  store: Store,
  logId: string,
  level: number,
  from: number,
  to: number,
): Promise<Uint8Array[]> {
  const rows = await tileRoots(store, logId, level, from, to);
  return rows.flatMap(({ number, root }, index) => (number === from + index ? [root] : []));
}

export type NewCheckpoint = { logId: string; size: number; note: string; tiles: readonly TileRow[] };

/** A checkpoint and the tiles that are full with it, together. It never goes back. */
export async function storeCheckpoint(store: Store, { logId, size, note, tiles }: NewCheckpoint): Promise<void> {
  await store.db.transaction().execute(async (tx) => {
    for (const tile of tiles) {
      await tx
        .insertInto("log_tiles")
        .values({ log_id: logId, ...tile })
        .onConflict((clash) =>
          clash.columns(["log_id", "level", "number"]).doUpdateSet({ hashes: tile.hashes, root: tile.root }),
        )
        .execute();
    }
    await tx
      .updateTable("logs")
      .set({ checkpoint_size: size, checkpoint: note, cosignatures: "" })
      .where("log_id", "=", logId)
      .where("checkpoint_size", "<=", size)
      .execute();
  });
}

/** Lines of a witness for the checkpoint of this size, if that is still the newest. */
export async function addCosignatures({ db }: Store, logId: string, size: number, lines: string): Promise<void> {
  await db
    .updateTable("logs")
    .set({ cosignatures: sql<string>`cosignatures || ${lines}` })
    .where("log_id", "=", logId)
    .where("checkpoint_size", "=", size)
    .execute();
}

const operatorRuns = compiled("log_runs_of_operator", (db, logId: string, from: number, to: number, limit: number) =>
  db
    .selectFrom("log_runs")
    .select(["organization_id", "leaves"])
    .where("log_id", "=", logId)
    .where("first_ordinal", "=", sql.lit(0))
    .where("first_position", ">=", (inside) =>
      inside
        .selectFrom("log_runs as before")
        .select(sql<number>`coalesce(max(before.first_position), 0)`.as("first"))
        .where("before.log_id", "=", logId)
        .where("before.first_ordinal", "=", sql.lit(0))
        .where("before.first_position", "<=", from),
    )
    .where("first_position", "<=", to)
    .orderBy("first_position")
    .limit(limit),
);

const operatorRunsBefore = compiled("log_runs_of_operator_before", (db, logId: string, before: number, limit: number) =>
  db
    .selectFrom("log_runs")
    .select(["organization_id", "leaves"])
    .where("log_id", "=", logId)
    .where("first_ordinal", "=", sql.lit(0))
    .where("first_position", "<", before)
    .orderBy("first_position", "desc")
    .limit(limit),
);

/** The last acts of the operator before a position, the last one first. */
export async function listOperatorPlacesBefore(
  store: Store,
  logId: string,
  before: number,
  limit: number,
): Promise<NamedPlace[]> {
  return beforePosition(await operatorRunsBefore(store, logId, before, limit), before, limit);
}

/** Acts of the operator in this part of a log, in order: every organization is shown them. */
export async function listOperatorPlaces(
  store: Store,
  { logId, from, to }: PositionRange,
  limit: number,
): Promise<NamedPlace[]> {
  return withinRange(await operatorRuns(store, logId, from, to, limit + 1), from, to, limit);
}
