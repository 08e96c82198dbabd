/** What each database says it would do for the queries that a test makes of a store. */
import { Kysely, PostgresDialect } from "kysely";
import { type SqliteConnection, sqliteDialect } from "../src/store/sqlite_dialect.ts";
import type { PostgresStore, SqliteStore, Store } from "../src/store/store.ts";
import type { Tables } from "../src/store/tables.ts";

type Pool = PostgresStore["pool"];
type Query = { text: string; values: readonly unknown[] };

export type Watched = {
  store: Store;
  /** The plans of the queries that ran on it since the last time, by Kysely or straight on the driver. */
  plans(): Promise<string[]>;
  /** Every query that runs on it from now on is told here before it runs. */
  onQuery(listener: (text: string) => void): void;
};

/** The same store, watched. What it runs on a connection of its own, to write apart what did not go together, is not seen. */
export function watchQueries(store: Store): Watched {
  const queries: Query[] = [];
  let listener: ((text: string) => void) | undefined;
  const note = (text: string, values: readonly unknown[] = []) => {
    // Transactions have no plan.
    if (!/^\s*(with|select|insert|update|delete)\b/i.test(text)) return;
    queries.push({ text, values });
    listener?.(text);
  };
  const onQuery = (asked: typeof listener) => {
    listener = asked;
  };
  const watched = store.dialect === "sqlite" ? watchSqlite(store, note) : watchPostgres(store, note);
  const plans = async () => {
    const texts: string[] = [];
    for (const query of queries.splice(0)) texts.push(await planOf(store, query));
    return texts;
  };
  return { store: watched, plans, onQuery };
}

type Note = (text: string, values?: readonly unknown[]) => void;

function watchSqlite(store: SqliteStore, note: Note): Store {
  const sqlite: SqliteConnection = {
    ...store.sqlite,
    statement(text) {
      note(text);
      return store.sqlite.statement(text);
    },
  };
  return { ...store, sqlite, db: new Kysely<Tables>({ dialect: sqliteDialect(sqlite) }) };
}

function watchPostgres(store: PostgresStore, note: Note): Store {
  const pool = new Proxy(store.pool, {
    get(target, name) {
      if (name !== "query") return Reflect.get(target, name, target);
      return (query: string | Query) => {
        if (typeof query === "string") note(query);
        else note(query.text, query.values);
        return target.query(query as Parameters<Pool["query"]>[0]);
      };
    },
  });
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: store.pool }),
    log: ({ query }) => note(query.sql, query.parameters),
  });
  return { ...store, pool, db };
}

async function planOf(store: Store, { text, values }: Query): Promise<string> {
  if (store.dialect === "sqlite") {
    // It plans without looking at values.
    const rows = store.sqlite.database.prepare(`explain query plan ${text}`).all();
    return rows.map(({ detail }) => detail).join("\n");
  }
  const client = await store.pool.connect();
  try {
    // Of a table that fits into a page, PostgreSQL would rather read that page.
    await client.query("begin; set local enable_seqscan = off; set local enable_bitmapscan = off");
    const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain ${text}`, [...values]);
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  } finally {
    await client.query("rollback");
    client.release();
  }
}
