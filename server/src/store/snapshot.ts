/** Several statements on one state of the database. In statements of their own, a list could name what its next part no longer finds. */
import { Fault } from "@keystead/core/fault.ts";
import { CompiledQuery, Kysely } from "kysely";
import { unlessAway } from "./database_away.ts";
import { takeLongTurn } from "./long_turn.ts";
import { type SqliteConnection, sqliteDialect } from "./sqlite_dialect.ts";
import type { SqliteReader } from "./sqlite_readers.ts";
import type { PostgresStore, SqliteStore, Store } from "./store.ts";
import type { Tables } from "./tables.ts";
import { resumes } from "./thread_meter.ts";

const snapshots = new WeakSet<Store>();

export function isSnapshot(store: Store): boolean {
  return snapshots.has(store);
}

/** Runs `work` on a store that does not see what is committed meanwhile. For reading only. A snapshot's own is itself. */
export async function inSnapshot<T>(store: Store, work: (snapshot: Store) => T | Promise<T>): Promise<T> {
  if (isSnapshot(store)) return work(store);
  return store.dialect === "sqlite" ? throughReader(store, work) : inTransaction(store, work);
}

/** The same for what takes long, once it is its turn. */
export async function inLongSnapshot<T>(store: Store, work: (snapshot: Store) => T | Promise<T>): Promise<T> {
  if (isSnapshot(store)) return work(store);
  const turn = takeLongTurn();
  if (turn !== undefined) await turn;
  return inSnapshot(store, work);
}

async function throughReader<T>(store: SqliteStore, work: (snapshot: Store) => T | Promise<T>): Promise<T> {
  const { readers } = store.sqlite;
  const reader = await readers.take();
  resumes();
  try {
    return await work(readingStore(store, reader));
  } finally {
    readers.giveBack(reader);
  }
}

const readingStores = new WeakMap<SqliteReader, SqliteStore>();

/** A store over a connection that has only one user, and cannot write. */
function readingStore(store: SqliteStore, reader: SqliteReader): SqliteStore {
  const known = readingStores.get(reader);
  if (known !== undefined) return known;
  const refuse = (): never => {
    throw new Fault("internal", "a snapshot is for reading");
  };
  const sqlite: SqliteConnection = {
    ...store.sqlite,
    ...reader,
    reading: (work) => work(),
    acquire: refuse,
    exclusive: refuse,
  };
  const reading = { ...store, sqlite, db: new Kysely<Tables>({ dialect: sqliteDialect(sqlite) }) };
  snapshots.add(reading);
  readingStores.set(reader, reading);
  return reading;
}

async function inTransaction<T>(store: PostgresStore, work: (snapshot: Store) => T | Promise<T>): Promise<T> {
  const transaction = store.db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
  try {
    return await transaction.execute(async (db) => {
      const snapshot = { ...store, db, pool: poolOf(db) };
      snapshots.add(snapshot);
      resumes();
      return work(snapshot);
    });
  } catch (error) {
    throw unlessAway(error);
  }
}

/** What asks the pool asks this transaction: one statement after the other, because it has one connection. */
function poolOf(db: Kysely<Tables>): PostgresStore["pool"] {
  let last: Promise<unknown> = Promise.resolve();
  const query = ({ text, values }: { text: string; values: unknown[] }) => {
    const own = last.then(() => db.executeQuery(CompiledQuery.raw(text, values)));
    last = own.catch(() => undefined);
    return own;
  };
  return { query } as unknown as PostgresStore["pool"];
}
