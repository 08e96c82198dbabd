/** What each database says it would do for the queries that a test makes of a store. */
import { type CompiledQuery, Kysely, PostgresDialect } from "kysely";
import { sqliteDialect } from "../src/store/sqlite_dialect.ts";
import type { Store } from "../src/store/store.ts";
import type { Tables } from "../src/store/tables.ts";

/** The same store; `plans` gives the plans of the queries that Kysely ran on it since the last time. */
export function watchQueries(store: Store): { store: Store; plans(): Promise<string[]> } {
  const queries: CompiledQuery[] = [];
  const db = new Kysely<Tables>({
    dialect: store.dialect === "sqlite" ? sqliteDialect(store.sqlite) : new PostgresDialect({ pool: store.pool }),
    log({ query }) {
      queries.push(query);
    },
  });
  const plans = async () => {
    const texts: string[] = [];
    for (const { sql, parameters } of queries.splice(0)) texts.push(await planOf(store, sql, parameters));
    return texts;
  };
  return { store: { ...store, db }, plans };
}

async function planOf(store: Store, text: string, parameters: readonly unknown[]): Promise<string> {
  if (store.dialect === "sqlite") {
    const rows = store.sqlite.database.prepare(`explain query plan ${text}`).all(...(parameters as string[]));
    return rows.map(({ detail }) => detail).join("\n");
  }
  const client = await store.pool.connect();
  try {
    // Of a table that fits into a page, PostgreSQL would rather read that page.
    await client.query("begin; set local enable_seqscan = off; set local enable_bitmapscan = off");
    const { rows } = await client.query<{ "QUERY PLAN": string }>(`explain ${text}`, [...parameters]);
    return rows.map((row) => row["QUERY PLAN"]).join("\n");
  } finally {
    await client.query("rollback");
    client.release();
  }
}
