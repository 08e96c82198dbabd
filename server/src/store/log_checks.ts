/** The rows of a log as a check reads and mends them, of all organizations and without a hurry. */
import { tileWidth } from "@keystead/core/tlog/tiles.ts";
import { type NamedPlace, readRun } from "./log_rows.ts";
import type { TileRow } from "./public_log.ts";
import { read } from "./read.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

/** Logs that any row is of, in order. */
export async function listLogIds({ db }: Store): Promise<string[]> {
  const ids = new Set<string>();
  for (const table of ["logs", "log_entries", "log_tiles", "log_runs"] as const) {
    for (const { log_id } of await read(db.selectFrom(table).select("log_id").distinct())) ids.add(log_id);
  }
  return [...ids].sort();
}

export type EntriesOfTile = Tables["log_entries"][];

/** Rows that begin in a tile. */
export async function entriesOfTile({ db }: Pick<Store, "db">, logId: string, tile: number): Promise<EntriesOfTile> {
  return read(
    db
      .selectFrom("log_entries")
      .selectAll()
      .where("log_id", "=", logId)
      .where("first_position", ">=", tile * tileWidth)
      .where("first_position", "<", (tile + 1) * tileWidth)
      .orderBy("first_position"),
  );
}

/** In the place of whatever rows the tile had. */
export async function replaceEntries(
  { db }: Store,
  logId: string,
  tile: number,
  rows: readonly Tables["log_entries"][],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .deleteFrom("log_entries")
      .where("log_id", "=", logId)
      .where("first_position", ">=", tile * tileWidth)
      .where("first_position", "<", (tile + 1) * tileWidth)
      .execute();
    if (rows.length > 0)
      await tx
        .insertInto("log_entries")
        .values([...rows])
        .execute();
  });
}

/** The signer appends no more than 100,000 that no checkpoint covers. */
const mostUnsigned = 100_000;

/** The last tile that has rows of entries. A row further out than all of them together and what is signed could reach is none of a log. */
export async function findLastTile({ db }: Store, logId: string, signedSize: number): Promise<number | undefined> {
  const [counted] = await read(
    db
      .selectFrom("log_entries")
      .select((is) => is.fn.countAll<number>().as("rows"))
      .where("log_id", "=", logId),
  );
  const [row] = await read(
    db
      .selectFrom("log_entries")
      .select("first_position")
      .where("log_id", "=", logId)
      .where("first_position", "<", Number(counted?.rows ?? 0) * tileWidth + signedSize + mostUnsigned)
      .orderBy("first_position", "desc")
      .limit(1),
  );
  return row && Math.floor(row.first_position / tileWidth);
}

/** Full tiles of a level, some at a time. */
export async function listTiles({ db }: Store, logId: string, level: number, from: number, limit: number) {
  return read(
    db
      .selectFrom("log_tiles")
      .select(["level", "number", "hashes", "root"])
      .where("log_id", "=", logId)
      .where("level", "=", level)
      .where("number", ">=", from)
      .orderBy("number")
      .limit(limit),
  );
}

export async function findTileRow(
  { db }: Store,
  logId: string,
  level: number,
  number: number,
): Promise<TileRow | undefined> {
  const [row] = await read(
    db
      .selectFrom("log_tiles")
      .select(["level", "number", "hashes", "root"])
      .where("log_id", "=", logId)
      .where("level", "=", level)
      .where("number", "=", number),
  );
  return row;
}

export async function replaceTile({ db }: Store, logId: string, tile: TileRow): Promise<void> {
  await db
    .insertInto("log_tiles")
    .values({ log_id: logId, ...tile })
    .onConflict((clash) =>
      clash.columns(["log_id", "level", "number"]).doUpdateSet({ hashes: tile.hashes, root: tile.root }),
    )
    .execute();
}

/** Tiles that a log of this size cannot have yet. */
export async function listTilesBeyond({ db }: Store, logId: string, size: number): Promise<TileRow[]> {
  const rows = await read(
    db
      .selectFrom("log_tiles")
      .select(["level", "number", "root"])
      .where("log_id", "=", logId)
      .orderBy("level")
      .orderBy("number"),
  );
  const isBeyond = ({ level, number }: Pick<TileRow, "level" | "number">) =>
    level < 0 || level > 6 || number < 0 || (number + 1) * tileWidth ** (level + 1) > size;
  return rows.filter(isBeyond).map((row) => ({ ...row, hashes: new Uint8Array() }));
}

export async function deleteTile({ db }: Store, logId: string, { level, number }: Pick<TileRow, "level" | "number">) {
  await db
    .deleteFrom("log_tiles")
    .where("log_id", "=", logId)
    .where("level", "=", level)
    .where("number", "=", number)
    .execute();
}

/** What runs of any organization say about a part of a log. No index leads there. Runs that cannot be read are left out. */
export async function placesCovering({ db }: Store, logId: string, from: number, to: number): Promise<NamedPlace[]> {
  const rows = await read(
    db
      .selectFrom("log_runs")
      .select(["organization_id", "leaves"])
      .where("log_id", "=", logId)
      .where("first_position", "<=", to)
      .where("last_position", ">=", from),
  );
  return rows.flatMap((row) => readable(row).filter(({ position }) => position >= from && position <= to));
}

function readable(row: Pick<Tables["log_runs"], "organization_id" | "leaves">): NamedPlace[] {
  try {
    return readRun(row);
  } catch {
    return [];
  }
}

/** All runs of a log, whoever's, some at a time. Those that cannot be read are left out: the check of their organization comes upon them. */
export async function* runsOfLog({ db }: Store, logId: string): AsyncGenerator<NamedPlace[]> {
  const limit = 1_000;
  let after = { organization_id: "", first_position: -1 };
  for (;;) {
    const { organization_id, first_position } = after;
    const rows = await read(
      db
        .selectFrom("log_runs")
        .select(["organization_id", "first_position", "leaves"])
        .where("log_id", "=", logId)
        .where("first_position", "<=", Number.MAX_SAFE_INTEGER)
        .where((is) =>
          is.or([
            is("organization_id", ">", organization_id),
            is.and([is("organization_id", "=", organization_id), is("first_position", ">", first_position)]),
          ]),
        )
        .orderBy("organization_id")
        .orderBy("first_position")
        .limit(limit),
    );
    for (const row of rows) yield readable(row);
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return;
    after = last;
  }
}

const namedAtOnce = 200;

/** Of the leaves that a run names, those that its organization has, by their names. */
export async function leavesThere({ db }: Store, places: readonly NamedPlace[]): Promise<Set<string>> {
  const found = new Set<string>();
  const organizationId = places[0]?.organizationId ?? "";
  for (let at = 0; at < places.length; at += namedAtOnce) {
    const numbers = places.slice(at, at + namedAtOnce).map(({ number }) => number);
    const rows = await read(
      db
        .selectFrom("leaves")
        .select(["boot", "number"])
        .where("organization_id", "=", organizationId)
        .where("number", "in", numbers),
    );
    for (const row of rows) found.add(leafName(row));
  }
  return found;
}

const goneThroughAtOnce = 10_000;

/**
 * Of leaves by their names, `boot number`, those that anybody has: a process of the signer gives each number once. No index leads there,
 * so all leaves are gone through, once for all names.
 */
export async function leavesOfAnybody({ db }: Store, names: ReadonlySet<string>): Promise<Set<string>> {
  const found = new Set<string>();
  let after = { organization_id: "", boot: "", number: -1 };
  while (names.size > 0) {
    const { organization_id, boot, number } = after;
    const rows = await read(
      db
        .selectFrom("leaves")
        .select(["organization_id", "boot", "number"])
        .where("number", "<=", Number.MAX_SAFE_INTEGER)
        .where(({ eb, refTuple, tuple }) =>
          eb(refTuple("organization_id", "boot", "number"), ">", tuple(organization_id, boot, number)),
        )
        .orderBy("organization_id")
        .orderBy("boot")
        .orderBy("number")
        .limit(goneThroughAtOnce),
    );
    for (const row of rows) {
      const name = leafName(row);
      if (names.has(name)) found.add(name);
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < goneThroughAtOnce) break;
    after = last;
  }
  return found;
}

export function leafName({ boot, number }: Pick<NamedPlace, "boot" | "number">): string {
  return `${boot} ${number}`;
}
