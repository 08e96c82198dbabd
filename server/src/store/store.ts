/** The database: an SQLite file that one gateway owns, or a PostgreSQL that many share. Either is opened only durable. */
import { closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Fault } from "@keystead/core/fault.ts";
import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { plainReason } from "./database_away.ts";
import { migrate } from "./migrations/migrate.ts";
import { openFault } from "./open_fault.ts";
import { type SqliteConnection, sqliteDialect } from "./sqlite_dialect.ts";
import { openDurable } from "./sqlite_file.ts";
import { adviseSqlite } from "./sqlite_statistics.ts";
import type { Tables } from "./tables.ts";

export type SqliteStore = {
  readonly db: Kysely<Tables>;
  readonly dialect: "sqlite";
  readonly sqlite: SqliteConnection;
  readonly lock: DatabaseSync;
};

export type PostgresStore = {
  /** On connections of its own, for lists and migrations. */
  readonly db: Kysely<Tables>;
  readonly dialect: "postgres";
  readonly pool: pg.Pool;
};

export type Store = SqliteStore | PostgresStore;

export type StoreSource = { kind: "sqlite"; folder: string } | { kind: "postgres"; url: string };

/** Opens the database, refuses one that could lose commits, and brings its tables up to date. */
export async function openStore(source: StoreSource): Promise<Store> {
  try {
    return await openMigrated(source);
  } catch (error) {
    throw source.kind === "sqlite" ? openFault(error, source.folder) : unwritableFault(error);
  }
}

async function openMigrated(source: StoreSource): Promise<Store> {
  const store = source.kind === "sqlite" ? openSqliteStore(source.folder) : await openPostgresStore(source.url);
  try {
    await migrate(store.db, store.dialect);
    if (store.dialect === "sqlite") adviseSqlite(store.sqlite.database);
  } catch (error) {
    await closeStore(store);
    throw error;
  }
  return store;
}

export async function closeStore(store: Store): Promise<void> {
  await store.db.destroy();
  if (store.dialect === "sqlite") store.lock.close();
  else await store.pool.end();
}

function openSqliteStore(folder: string): SqliteStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const lock = lockFolder(folder);
  try {
    const path = join(folder, "keystead.db");
    createPrivate(path);
    const sqlite = openDurable(path, { checkpointPages: 4000 });
    return { db: new Kysely<Tables>({ dialect: sqliteDialect(sqlite) }), dialect: "sqlite", sqlite, lock };
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** SQLite would create its file readable for all; the WAL takes over the mode of the file. */
function createPrivate(path: string): void {
  closeSync(openSync(path, "a", 0o600));
}

/** An open transaction on a file of its own: the kernel ends it with the process, however that dies. */
function lockFolder(folder: string): DatabaseSync {
  const path = join(folder, "gateway.lock");
  createPrivate(path);
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec("begin exclusive");
    return lock;
  } catch (cause) {
    lock.close();
    if ((cause as { errcode?: number }).errcode !== sqliteBusy) throw cause;
    throw new Fault(
      "failed_precondition",
      `another gateway uses \`${folder}\`: stop it, or set DATABASE_URL to share`,
      {
        cause,
      },
    );
  }
}

const sqliteBusy = 5;

/** Counters and times are far below 2^53, so `bigint` columns are read as numbers; a larger one is corruption. */
function parseInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new Fault("internal", "an integer in the database is out of range");
  return value;
}

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === pg.types.builtins.INT8 && format !== "binary"
      ? parseInteger
      : pg.types.getTypeParser(oid, format as "text")) as pg.CustomTypesConfig["getTypeParser"],
};

/**
 * Queries of the hot path go by whole keys, so one plan serves all parameters; planning a group commit anew costs twice its
 * run.
 */
const hotSettings = "set plan_cache_mode = force_generic_plan";

/**
 * Lists are planned for their parameters, because one organization may have a million times as much as another. A page is
 * read along an index and ends early; gathering everything first, to sort it, is never better.
 */
const listSettings = "set enable_bitmapscan = off; set enable_sort = off";

function openPool(url: string, max: number, settings: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: "keystead",
    max,
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    types,
    onConnect: async (client) => {
      await client.query(settings);
    },
  });
  // A connection that is lost is replaced by the pool, and whoever was using it is told by the failure of its query. The client says it
  // once more, while idle through the pool and in use by itself; without a listener that would end the process.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  return pool;
}

async function openPostgresStore(url: string): Promise<PostgresStore> {
  const pool = openPool(url, 16, hotSettings);
  try {
    await refuseUnsafe(pool);
  } catch (error) {
    await pool.end();
    if (error instanceof Fault) throw error;
    throw new Fault("failed_precondition", `the database of DATABASE_URL cannot be used: ${whyUnusable(error)}`, {
      cause: error,
    });
  }
  // Few, so that lists never keep activities waiting for a connection.
  const lists = new PostgresDialect({ pool: openPool(url, 4, listSettings) });
  return { db: new Kysely<Tables>({ dialect: lists }), dialect: "postgres", pool };
}

/** A server that answers, and cannot be brought up to date for now. */
function unwritableFault(error: unknown): unknown {
  const why = plainReason(error);
  if (why === undefined) return error;
  const message = `the database of DATABASE_URL cannot be used: ${why} (${(error as Error).message}); mend that and start again`;
  return new Fault("failed_precondition", message, { cause: error });
}

/** The driver's words, and which part of the setting they are about. */
function whyUnusable(error: unknown): string {
  // Where a name has several addresses and none answers, there is a code and no words.
  const { message = "", code } = error as Partial<NodeJS.ErrnoException>;
  const isServers = error instanceof pg.DatabaseError;
  const check = isServers ? "check its user, password and database" : "check its host and port; is PostgreSQL running?";
  return `${message || code || String(error)}; ${check}`;
}

/** What the server must answer, and why. */
const requirements: Record<string, { accepts: (value: string) => boolean; wants: string }> = {
  server_version_num: { accepts: (value) => Number(value) >= 150_000, wants: "at least 150000 (PostgreSQL 15)" },
  server_encoding: { accepts: (value) => value === "UTF8", wants: "UTF8" },
  fsync: { accepts: (value) => value === "on", wants: "on" },
  full_page_writes: { accepts: (value) => value === "on", wants: "on" },
  synchronous_commit: { accepts: (value) => value !== "off", wants: "anything but off" },
};

async function refuseUnsafe(pool: pg.Pool): Promise<void> {
  const names = Object.keys(requirements);
  const columns = names.map((name) => `current_setting('${name}') as ${name}`);
  const { rows } = await pool.query<Record<string, string>>(`select ${columns.join(", ")}`);
  for (const [name, { accepts, wants }] of Object.entries(requirements)) {
    const value = rows[0]?.[name] ?? "";
    if (!accepts(value)) {
      throw new Fault(
        "failed_precondition",
        `this PostgreSQL is not safe to use: ${name} is \`${value}\`, must be ${wants}`,
      );
    }
  }
}
