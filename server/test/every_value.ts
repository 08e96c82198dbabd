import { sql } from "kysely";
import type { Store } from "../src/store/store.ts";

/** Every value of every row of every table, as bytes. Files may hold them compressed, or in parts. */
export async function everyValue({ db, dialect }: Store): Promise<Buffer[]> {
  const names = await (dialect === "sqlite"
    ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
    : sql<{ name: string }>`select table_name as name from information_schema.tables where table_schema = 'public'`
  ).execute(db);
  const values: Buffer[] = [];
  for (const { name } of names.rows) {
    const { rows } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db);
    for (const value of rows.flatMap((row) => Object.values(row))) {
      if (value instanceof Uint8Array) values.push(Buffer.from(value));
      else if (value !== null) values.push(Buffer.from(String(value)));
    }
  }
  return values;
}
