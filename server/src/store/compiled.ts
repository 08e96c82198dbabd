/**
 * Queries of the hot path: written with Kysely's types, compiled once per dialect, then run straight on the driver
 * (a prepared statement in SQLite, a named one in PostgreSQL). Compiling anew would cost more than running.
 */
import type { SQLInputValue } from "node:sqlite";
import type { CompiledQuery, Kysely } from "kysely";
import { unlessAway } from "./database_away.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";
import { resumesWith } from "./thread_meter.ts";

/** Stands for the argument of that index while a query is compiled. */
class Placeholder {
  readonly index: number;
  constructor(index: number) {
    this.index = index;
  }
}

type Compiled = { sql: string; values: readonly unknown[] };

/**
 * `build` is called once per dialect with placeholders instead of arguments, so it must not look at them, only pass them
 * to the query, which only reads. `name` is unique in this room.
 */
export function compiled<A extends readonly unknown[], Row>(
  name: string,
  build: (db: Kysely<Tables>, ...args: A) => { compile(): CompiledQuery<Row> },
): (store: Store, ...args: A) => Promise<Row[]> | Row[] {
  const perDialect = new Map<Store["dialect"], Compiled>();
  return (store, ...args) => {
    let query = perDialect.get(store.dialect);
    if (query === undefined) {
      const placeholders = args.map((_, index) => new Placeholder(index));
      const { sql, parameters } = build(store.db, ...(placeholders as unknown as A)).compile();
      query = { sql, values: parameters };
      perDialect.set(store.dialect, query);
    }
    const values = query.values.map((value) => (value instanceof Placeholder ? args[value.index] : value));
    const text = query.sql;
    if (store.dialect === "sqlite") {
      const run = () => store.sqlite.statement(text).all(...(values as SQLInputValue[])) as Row[];
      return store.sqlite.reading(run);
    }
    return store.pool.query({ name, text, values }).then(
      ({ rows }) => resumesWith(rows as Row[]),
      (error) => {
        throw unlessAway(error);
      },
    );
  };
}
