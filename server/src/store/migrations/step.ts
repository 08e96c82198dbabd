import { type CreateIndexBuilder, type CreateTableBuilder, type Kysely, type RawBuilder, sql } from "kysely";

export type SqlDialect = "sqlite" | "postgres";

/** One step forward, the same text for both databases but for the names of types. */
export type MigrationStep = (db: Kysely<unknown>, types: ColumnTypes) => Promise<void>;

export type ColumnTypes = {
  /** Compared byte by byte in both databases, so that ids sort alike whatever the locale. */
  text: RawBuilder<unknown>;
  integer: RawBuilder<unknown>;
  bytes: RawBuilder<unknown>;
  /** SQLite checks types only in strict tables, and keeps rows in their primary key's tree only without rowids. */
  strict<T extends string, C extends string>(table: CreateTableBuilder<T, C>): CreateTableBuilder<T, C>;
  /** For rows of a kilobyte and more: of those SQLite's primary key keeps a part only, and a page of its own for each rest. */
  wide<T extends string, C extends string>(table: CreateTableBuilder<T, C>): CreateTableBuilder<T, C>;
  /** For an index that only finds: PostgreSQL might take a sorted one for the order of a list, and read past all others. */
  unsorted<C>(index: CreateIndexBuilder<C>): CreateIndexBuilder<C>;
  /** PostgreSQL compresses what is longer than 2 KB unless it is told not to. What is stored already stays as it is. */
  uncompressed(db: Kysely<unknown>, table: string, column: string): Promise<void>;
};

export function columnTypes(dialect: SqlDialect): ColumnTypes {
  if (dialect === "postgres") {
    return {
      text: sql`text collate "C"`,
      integer: sql`bigint`,
      bytes: sql`bytea`,
      strict: (table) => table,
      wide: (table) => table,
      unsorted: (index) => index.using("hash"),
      async uncompressed(db, table, column) {
        await sql`alter table ${sql.table(table)} alter column ${sql.ref(column)} set storage external`.execute(db);
      },
    };
  }
  return {
    text: sql`text`,
    integer: sql`integer`,
    bytes: sql`blob`,
    strict: (table) => table.modifyEnd(sql`strict, without rowid`),
    wide: (table) => table.modifyEnd(sql`strict`),
    unsorted: (index) => index,
    uncompressed: async () => {},
  };
}
