/**
 * Reads and mends the rows of one organization in a transaction of their own. Everything is read in portions, because an
 * organization may have a million wallets; and at one moment, because another gateway may be writing meanwhile.
 */
import { type RawBuilder, sql, type Transaction } from "kysely";
import { untilNotOvertaken } from "./overtaken.ts";
import { rowKeys } from "./projection.ts";
import type { SqliteStore, Store } from "./store.ts";
import { type OrganizationTable, type Tables, tables } from "./tables.ts";

export type Inside = Transaction<Tables>;

/** One that does not write cannot: the database itself refuses it. */
export async function insideOne<T>(
  store: Store,
  organizationId: string,
  { writes }: { writes: boolean },
  work: (tx: Inside) => Promise<T>,
): Promise<T> {
  if (store.dialect === "sqlite") return insideSqlite(store, writes, work);
  return untilNotOvertaken(() =>
    store.db
      .transaction()
      .setIsolationLevel("repeatable read")
      .setAccessMode(writes ? "read write" : "read only")
      .execute(async (tx) => {
        if (writes) await lockOrganization(tx, organizationId);
        return work(tx);
      }),
  );
}

/** SQLite has one writer, and what it reads stands still. */
function insideSqlite<T>({ db, sqlite }: SqliteStore, writes: boolean, work: (tx: Inside) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (tx) => {
    if (writes) return work(tx);
    sqlite.database.exec("pragma query_only = on");
    try {
      return await work(tx);
    } finally {
      sqlite.database.exec("pragma query_only = off");
    }
  });
}

/** Whoever commits holds this row as well: what another gateway is about to write waits until all is rebuilt. */
async function lockOrganization(tx: Inside, organizationId: string): Promise<void> {
  await sql`select 1 from organizations where organization_id = ${organizationId} for update`.execute(tx);
}

/** All rows of an organization in a table, in the order of its key, `limit` at a time. */
export async function* rowsOf<T extends OrganizationTable>(
  tx: Inside,
  table: T,
  organizationId: string,
  limit: number,
): AsyncGenerator<Tables[T][]> {
  const keys = columnList(["organization_id", ...rowKeys[table]]);
  let after: RawBuilder<unknown> = sql``;
  for (;;) {
    const { rows } = await sql<Tables[T]>`select * from ${sql.table(table)}
      where organization_id = ${organizationId} ${after} order by ${keys} limit ${limit}`.execute(tx);
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return;
    after = sql`and (${keys}) > (${sql.join([organizationId, ...keyOf(table, last)])})`;
  }
}

/** The values of a row's key, in its order. */
export function keyOf<T extends OrganizationTable>(table: T, row: Tables[T]): (string | number)[] {
  return rowKeys[table].map((column) => (row as Record<string, string | number>)[column] ?? "");
}

function columnList(columns: readonly string[]): RawBuilder<unknown> {
  return sql.join(columns.map((column) => sql.ref(column)));
}

function isRow<T extends OrganizationTable>(table: T, row: Tables[T]): RawBuilder<unknown> {
  const conditions = rowKeys[table].map((column, index) => sql`${sql.ref(column)} = ${keyOf(table, row)[index]}`);
  return sql.join([sql`organization_id = ${row.organization_id}`, ...conditions], sql` and `);
}

export async function deleteRow<T extends OrganizationTable>(tx: Inside, table: T, row: Tables[T]): Promise<void> {
  await sql`delete from ${sql.table(table)} where ${isRow(table, row)}`.execute(tx);
}

export async function insertRow<T extends OrganizationTable>(tx: Inside, table: T, row: Tables[T]): Promise<void> {
  const columns = Object.keys(tables[table]);
  const values = columns.map((column) => (row as Record<string, unknown>)[column]);
  await sql`insert into ${sql.table(table)} (${columnList(columns)}) values (${sql.join(values)})`.execute(tx);
}

/** Changes columns of the row that has this key. */
export async function updateRow<T extends OrganizationTable>(
  tx: Inside,
  table: T,
  row: Tables[T],
  columns: Partial<Tables[T]>,
): Promise<void> {
  const entries = Object.entries(columns);
  if (entries.length === 0) return;
  const assignments = entries.map(([column, value]) => sql`${sql.ref(column)} = ${value}`);
  await sql`update ${sql.table(table)} set ${sql.join(assignments)} where ${isRow(table, row)}`.execute(tx);
}

/** What was changed in a row may name any number of others, and a statement takes so many values. */
const valuesAtOnce = 500;

/** The rows of an organization whose column has one of these values. */
export async function rowsWith<T extends OrganizationTable>(
  tx: Inside,
  table: T,
  organizationId: string,
  column: string & keyof Tables[T],
  values: readonly (string | number)[],
): Promise<Tables[T][]> {
  const found: Tables[T][] = [];
  for (let at = 0; at < values.length; at += valuesAtOnce) {
    const { rows } = await sql<Tables[T]>`select * from ${sql.table(table)}
      where organization_id = ${organizationId}
        and ${sql.ref(column)} in (${sql.join(values.slice(at, at + valuesAtOnce))})`.execute(tx);
    found.push(...rows);
  }
  return found;
}

/** The leaf that led to an organization's highest version. */
export async function newestLeaf(tx: Inside, organizationId: string): Promise<Uint8Array | undefined> {
  const row = await tx
    .selectFrom("leaves")
    .select("leaf")
    .where("organization_id", "=", organizationId)
    .where("version", "is not", null)
    .orderBy("version", "desc")
    .limit(1)
    .executeTakeFirst();
  return row?.leaf;
}

/**
 * Activities that no leaf tells of. No index leads from an activity to its leaves; asked like this, both databases gather each side
 * once, where a join or an `exists` would go through all leaves for each activity.
 */
export async function activitiesWithoutLeaf(tx: Inside, organizationId: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ activity_id: string }>`select activity_id from activities
    where organization_id = ${organizationId} except select activity_id from leaves
    where organization_id = ${organizationId} order by activity_id limit ${limit}`.execute(tx);
  return rows.map(({ activity_id }) => activity_id);
}

/** Activities with another number of later votes than of leaves behind the first. */
export async function miscountedVotes(tx: Inside, organizationId: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ activity_id: string }>`select activity_id from
    (select activity_id, count(*) as cast_votes from votes where organization_id = ${organizationId}
      group by activity_id) as counted
    left join
    (select activity_id, count(*) as told from leaves where organization_id = ${organizationId}
      and activity_id is not null group by activity_id) as leaves_of using (activity_id)
    where cast_votes <> coalesce(told, 1) - 1 order by activity_id limit ${limit}`.execute(tx);
  return rows.map(({ activity_id }) => activity_id);
}

/** Organizations that a table has rows of and that are not there themselves. */
export async function strayOrganizations({ db }: Store, table: OrganizationTable, limit: number): Promise<string[]> {
  const { rows } = await sql<{ organization_id: string }>`select distinct organization_id from ${sql.table(table)} as t
    where not exists (select 1 from organizations as o where o.organization_id = t.organization_id)
    order by organization_id limit ${limit}`.execute(db);
  return rows.map(({ organization_id }) => organization_id);
}

/** Those of the ids that are no organization's. */
export async function absentOrganizations({ db }: Store, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const { rows } = await sql<{ organization_id: string }>`select organization_id from organizations
    where organization_id in (${sql.join(ids)})`.execute(db);
  const there = new Set(rows.map(({ organization_id }) => organization_id));
  return ids.filter((id) => !there.has(id));
}

/** All of them, in order. Their ids alone, because any other column may hold what cannot be read. */
export async function listOrganizations({ db }: Store, after: string | undefined, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("organizations")
    .select("organization_id")
    .where("organization_id", ">", after ?? "")
    .orderBy("organization_id")
    .limit(limit)
    .execute();
  return rows.map(({ organization_id }) => organization_id);
}

/** Completed activities of certain types, `limit` at a time. */
export async function* rowsOfTypes(
  tx: Inside,
  organizationId: string,
  types: readonly string[],
  limit: number,
): AsyncGenerator<Tables["activities"][]> {
  let after = "";
  for (;;) {
    const rows = await tx
      .selectFrom("activities")
      .selectAll()
      .where("organization_id", "=", organizationId)
      .where("type", "in", types)
      .where("status", "=", "ACTIVITY_STATUS_COMPLETED")
      .where("activity_id", ">", after)
      .orderBy("activity_id")
      .limit(limit)
      .execute();
    yield rows;
    if (rows.length < limit) return;
    after = rows.at(-1)?.activity_id ?? "";
  }
}
