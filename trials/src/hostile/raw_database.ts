/** A deployment's database as somebody has it who may write to it: rows, and no rules but those of the tables themselves. */
import { rmSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { administer, databaseUrl } from "@keystead/e2e/databases.ts";
import { rowKeys } from "@keystead/server/store/projection.ts";
import { closeStore, openStore } from "@keystead/server/store/store.ts";
import { commonTables, type OrganizationTable, type TableName, tables } from "@keystead/server/store/tables.ts";
import { connectRaw } from "../../../server/test/hostile_postgres.ts";

export type Value = string | number | bigint | Uint8Array | null;
export type Row = Record<string, Value>;

export const tableNames = Object.keys(tables) as TableName[];

/** Every row of one organization, by table. */
export type Snapshot = ReadonlyMap<TableName, readonly Row[]>;

export type RawDatabase = {
  rows(table: TableName, organizationId?: string): Promise<Row[]>;
  /** False when the tables themselves do not let it be: a key that is taken, a column that must not be null. */
  update(table: TableName, row: Row, column: string, value: Value): Promise<boolean>;
  remove(table: TableName, row: Row): Promise<void>;
  insert(table: TableName, row: Row): Promise<boolean>;
  /** Writes it and takes it back. */
  insertInVain(table: TableName, row: Row): Promise<void>;
  close(): Promise<void>;
};

/** Where a deployment keeps its rows. */
export type Source = { kind: "sqlite"; folder: string } | { kind: "postgres"; url: string };

type Run = (text: string, values: readonly Value[]) => Promise<Row[]>;

export async function openRaw(source: Source): Promise<RawDatabase> {
  if (source.kind === "sqlite") {
    const database = new DatabaseSync(join(source.folder, "keystead.db"), { timeout: 20_000, readBigInts: true });
    const run: Run = async (text, values) => {
      const statement = database.prepare(text);
      return (statement.all(...(values as SQLInputValue[])) as Row[]).map(withSmallNumbers);
    };
    return access(
      run,
      () => "?",
      async () => database.close(),
    );
  }
  const client = await connectRaw(source.url);
  const run: Run = async (text, values) => ((await client.query(text, values)) as Row[]).map(withNumbers);
  return access(
    run,
    (index) => `$${index + 1}`,
    () => client.end(),
  );
}

/** Integers as they are: some are beyond what a number holds. */
function withSmallNumbers(row: Row): Row {
  const small = (value: Value) => (typeof value === "bigint" && value < 2n ** 53n ? Number(value) : value);
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, small(value)]));
}

/** The driver gives large integers as text. */
function withNumbers(row: Row): Row {
  const isInteger = (value: Value) => typeof value === "string" && /^-?\d{1,15}$/.test(value);
  const integers = Object.entries(row).filter(([column, value]) => integerColumns.has(column) && isInteger(value));
  return { ...row, ...Object.fromEntries(integers.map(([column, value]) => [column, Number(value)])) };
}

const integerColumns = new Set(
  Object.values(tables).flatMap((columns) =>
    Object.entries(columns).flatMap(([column, kind]) => (kind.startsWith("integer") ? [column] : [])),
  ),
);

function isCommon(table: TableName): table is (typeof commonTables)[number] {
  return commonTables.some((name) => name === table);
}

function access(run: Run, place: (index: number) => string, close: () => Promise<void>): RawDatabase {
  const keysOf = (table: TableName) => (isCommon(table) ? rowKeys[table] : ["organization_id", ...rowKeys[table]]);
  const isRow = (table: TableName, row: Row, from: number) => ({
    text: keysOf(table)
      .map((column, index) => `${column} = ${place(from + index)}`)
      .join(" and "),
    values: keysOf(table).map((column) => row[column] as Value),
  });
  function insert(table: TableName, row: Row): Promise<boolean> {
    const columns = Object.keys(row);
    const values = columns.map((_, index) => place(index)).join(", ");
    const text = `insert into ${table} (${columns.join(", ")}) values (${values})`;
    return ifAllowed(() =>
      run(
        text,
        columns.map((column) => row[column] as Value),
      ),
    );
  }
  return {
    rows(table, organizationId) {
      const condition = organizationId === undefined ? "" : ` where organization_id = ${place(0)}`;
      return run(`select * from ${table}${condition}`, organizationId === undefined ? [] : [organizationId]);
    },
    async update(table, row, column, value) {
      const { text, values } = isRow(table, row, 1);
      return ifAllowed(() => run(`update ${table} set ${column} = ${place(0)} where ${text}`, [value, ...values]));
    },
    async remove(table, row) {
      const { text, values } = isRow(table, row, 0);
      await run(`delete from ${table} where ${text}`, values);
    },
    insert,
    async insertInVain(table, row) {
      await run("begin", []);
      await insert(table, row);
      await run("rollback", []);
    },
    close,
  };
}

async function ifAllowed(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    const { errcode, code } = error as { errcode?: number; code?: string };
    // Of SQLite any constraint, of PostgreSQL its class of violations.
    if ((errcode !== undefined && (errcode & 0xff) === 19) || code?.startsWith("23")) return false;
    throw error;
  }
}

export async function snapshotOf(raw: RawDatabase, organizationId: string): Promise<Snapshot> {
  const snapshot = new Map<TableName, Row[]>();
  for (const table of tableNames) {
    if (!isCommon(table)) snapshot.set(table, await raw.rows(table, organizationId));
  }
  return snapshot;
}

/** Whether anything of what was done between two looks is still so at a third, whatever others have written in the meantime. */
export function isLeft(before: Snapshot, harmed: Snapshot, now: Snapshot): boolean {
  return tableNames.some((table) => {
    if (isCommon(table)) return false;
    const [were, are, left] = [before, harmed, now].map((all) => byKey(table, all.get(table) ?? []));
    return [...new Set([...(were?.keys() ?? []), ...(are?.keys() ?? [])])].some((key) => {
      const [old, bent, last] = [were?.get(key), are?.get(key), left?.get(key)];
      if (old === undefined || bent === undefined) return old !== bent && (last === undefined) === (bent === undefined);
      const isBent = (column: string) => textOf(old[column]) !== textOf(bent[column]);
      return Object.keys(bent).some((column) => isBent(column) && textOf(last?.[column]) === textOf(bent[column]));
    });
  });
}

/** Whether a table's rows are the same, in whatever order and by whichever driver they were read. */
export function isSameTable(table: OrganizationTable, rows: readonly Row[], others: readonly Row[]): boolean {
  const [own, other] = [byKey(table, rows), byKey(table, others)];
  const isSame = (row: Row, same: Row) =>
    Object.keys(row).every((column) => textOf(row[column]) === textOf(same[column]));
  return own.size === other.size && own.entries().every(([key, row]) => isSame(row, other.get(key) ?? {}));
}

function byKey(table: OrganizationTable, rows: readonly Row[]): Map<string, Row> {
  return new Map(rows.map((row) => [rowKeys[table].map((column) => textOf(row[column])).join(), row]));
}

const textOf = (value: Value | undefined): string =>
  value instanceof Uint8Array ? Buffer.from(value).toString("hex") : String(value);

/** Takes an organization back to what it was, whole or in one table. */
export async function rollBack(
  raw: RawDatabase,
  organizationId: string,
  to: Snapshot,
  only: readonly TableName[] = tableNames,
): Promise<void> {
  for (const table of only) {
    if (isCommon(table)) continue;
    for (const row of await raw.rows(table, organizationId)) await raw.remove(table, row);
    for (const row of to.get(table) ?? []) await raw.insert(table, row);
  }
}

/** A stopped deployment, put aside: the database and the signer's memory belong together. */
export type Base = { restore(): Promise<Source> };

/** The memory is of the same moment; files keep their owners, because they are written over, not replaced. */
async function copyMemory(from: string, to: string): Promise<void> {
  await copyFile(join(from, "memory"), join(to, "memory"));
}

export async function keepSqlite(dataFolder: string, aside: string): Promise<Base> {
  const folder = join(dataFolder, "database");
  await copyFile(join(folder, "keystead.db"), join(aside, "keystead.db"));
  await copyMemory(join(dataFolder, "signer"), aside);
  return {
    async restore() {
      for (const end of ["-wal", "-shm"]) rmSync(join(folder, `keystead.db${end}`), { force: true });
      await copyFile(join(aside, "keystead.db"), join(folder, "keystead.db"));
      await copyMemory(aside, join(dataFolder, "signer"));
      return { kind: "sqlite", folder };
    },
  };
}

/** The same rows in PostgreSQL, as a database that others are copied from. */
export async function keepPostgres(from: Source, url: string, dataFolder: string, aside: string): Promise<Base> {
  const name = /\/([^/?]+)(?:\?|$)/.exec(url)?.[1] ?? "";
  const template = `${name}_base`;
  await administer(databaseUrl(url, "postgres"), `create database ${template}`);
  const base: Source = { kind: "postgres", url: databaseUrl(url, template) };
  await closeStore(await openStore(base));
  const [source, target] = [await openRaw(from), await openRaw(base)];
  for (const table of tableNames) {
    for (const row of await source.rows(table)) await target.insert(table, row);
  }
  await source.close();
  await target.close();
  return {
    async restore() {
      await administer(databaseUrl(url, "postgres"), `drop database if exists ${name} with (force)`);
      await administer(databaseUrl(url, "postgres"), `create database ${name} template ${template}`);
      await copyMemory(aside, join(dataFolder, "signer"));
      return { kind: "postgres", url };
    },
  };
}

export async function dropBase(url: string): Promise<void> {
  const name = /\/([^/?]+)(?:\?|$)/.exec(url)?.[1] ?? "";
  await administer(databaseUrl(url, "postgres"), `drop database if exists ${name}_base with (force)`);
}
