/** Several statements on one state of the database. In statements of their own, a list could name what its next part no longer finds. */
import { Fault } from "@keystead/core/fault.ts";
import { CompiledQuery, Kysely } from "kysely";
import { unlessAway } from "./database_away.ts";
import { type SqliteConnection, sqliteDialect } from "./sqlite_dialect.ts";
import type { PostgresStore, SqliteStore, Store } from "./store.ts";
import type { Tables } from "./tables.ts";

/** Runs `work` on a store that does not see what is committed meanwhile. For reading only. */
export function inSnapshot<T>(store: Store, work: (snapshot: Store) => T | Promise<T>): Promise<T> {
  return store.dialect === "sqlite" ? inHeldFile(store, work) : inTransaction(store, work);
}

const heldStores = new WeakMap<SqliteStore, SqliteStore>();

/** Who writes through this connection waits for these reads; what another one commits meanwhile they do not see. */
async function inHeldFile<T>(store: SqliteStore, work: (snapshot: Store) => T | Promise<T>): Promise<T> {
  const held = heldStores.get(store) ?? heldStore(store);
  heldStores.set(store, held);
  await store.sqlite.hold();
  try {
    return await work(held);
  } finally {
    store.sqlite.letGo();
  }
}

/** The same connection for whoever holds it already. What waited to write through it would wait for itself. */
function heldStore(store: SqliteStore): SqliteStore {
  const refuse = (): never => {
    throw new Fault("internal", "a snapshot is for reading");
  };
  const sqlite: SqliteConnection = {
    ...store.sqlite,
    hold: async () => undefined,
    letGo: () => undefined,
    reading: (work) => work(),
    acquire: refuse,
    exclusive: refuse,
  };
  return { ...store, sqlite, db: new Kysely<Tables>({ dialect: sqliteDialect(sqlite) }) };
}

async function inTransaction<T>(store: PostgresStore, work: (snapshot: Store) => T | Promise<T>): Promise<T> {
  const transaction = store.db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
  try {
    return await transaction.execute(async (db) => work({ ...store, db, pool: poolOf(db) }));
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
