/** Inserts into SQLite by one prepared statement per table. */
import type { SQLInputValue } from "node:sqlite";
import type { EntityRow } from "./entity_rows.ts";
import type { EntityTableName } from "./entity_tables.ts";
import type { SqliteConnection } from "./sqlite_dialect.ts";
import type { TableName, Tables } from "./tables.ts";
import { columnsOf, onConflict } from "./upserts.ts";

const inserts = new Map<TableName, { text: string; columns: string[] }>();

export function insert<T extends TableName>(
  sqlite: SqliteConnection,
  table: T,
  row: T extends EntityTableName ? EntityRow : Tables[T],
): void {
  let entry = inserts.get(table);
  if (entry === undefined) {
    const columns = columnsOf(table);
    const values = columns.map(() => "?").join(", ");
    const text = `insert into ${table} (${columns.join(", ")}) values (${values}) ${onConflict[table] ?? ""}`;
    entry = { text, columns };
    inserts.set(table, entry);
  }
  const { text, columns } = entry;
  const values = row as Readonly<Record<string, SQLInputValue>>;
  sqlite.statement(text).run(...columns.map((column) => values[column] as SQLInputValue));
}
