/**
 * What SQLite is told about the sizes of tables, so that it plans for the deployments that need a good plan. Left to itself it takes an
 * organization for ten rows and reads all of one where an index would name the few that are meant; and gathering statistics while
 * serving would let plans change with the data. PostgreSQL gathers its own.
 */
import type { DatabaseSync } from "node:sqlite";

const rowsOfTable = 1_000_000;

/** Tables that stay small, whatever the deployment. */
const smallTables: Readonly<Record<string, number>> = { deployment: 1, unreleased: 100, logs: 10 };

/** How many rows have one value of a column, where an index begins with it or has it next. Of any other, a tenth of those before it. */
const rowsOfValue: Readonly<Record<string, number>> = {
  organization_id: 1_000,
  parent_id: 10_000,
  boot: 500,
  wallet_id: 20,
  user_id: 5,
  activity_id: 2,
  private_key_id: 2,
  public_key: 2,
  credential_id: 2,
  address_key: 2,
};

type Statistic = { tbl: string; idx: string; stat: string };

/**
 * Written only where it is not there yet: what is planned for changes with a release, not with a start. A disk that takes nothing keeps
 * nobody from starting: without this advice everything is as right, and slower.
 */
export function adviseSqlite(database: DatabaseSync): void {
  const wanted = statisticsOf(database);
  if (JSON.stringify(storedIn(database)) === JSON.stringify(wanted)) return;
  try {
    write(database, wanted);
  } catch (error) {
    const { errcode = 0 } = error as { errcode?: number };
    // The low byte is the kind of trouble: a read-only, broken or full disk.
    if (![8, 10, 13].includes(errcode & 0xff)) throw error;
  }
}

function write(database: DatabaseSync, wanted: readonly Statistic[]): void {
  database.exec("begin immediate");
  try {
    // Of one row, so that it costs nothing: it makes the table of statistics.
    database.exec("analyze deployment; delete from sqlite_stat1");
    const insert = database.prepare("insert into sqlite_stat1 (tbl, idx, stat) values (?, ?, ?)");
    for (const { tbl, idx, stat } of wanted) insert.run(tbl, idx, stat);
    database.exec("commit");
  } catch (error) {
    if (database.isTransaction) database.exec("rollback");
    throw error;
  }
  // Reads them; without it they would be used from the next start on.
  database.exec("analyze sqlite_schema");
}

function storedIn(database: DatabaseSync): Statistic[] {
  const [found] = database.prepare("select 1 from sqlite_schema where name = 'sqlite_stat1'").all();
  if (found === undefined) return [];
  const rows = database.prepare("select tbl, idx, stat from sqlite_stat1 order by tbl, idx").all() as Statistic[];
  return rows.map((row) => ({ ...row }));
}

const indexes = `select t.name as "table", t.wr as isKeyed, i.name as "index", i.origin, i."unique" as isUnique,
    (select json_group_array(c.name order by c.seqno) from pragma_index_info(i.name) c) as columns
  from pragma_table_list t join pragma_index_list(t.name) i
  where t.schema = 'main' and t.type = 'table' and t.name not like 'sqlite_%' and t.name not like 'migrations%'`;

type Index = { table: string; isKeyed: number; index: string; origin: string; isUnique: number; columns: string };

function statisticsOf(database: DatabaseSync): Statistic[] {
  const rows = database.prepare(indexes).all() as Index[];
  const statistics = rows.map((row) => {
    const { table, index, isKeyed, origin } = row;
    // A table without rowids is its own primary key, and is called so.
    return { tbl: table, idx: isKeyed === 1 && origin === "pk" ? table : index, stat: statOf(row) };
  });
  return statistics.sort((a, b) => compare(a.tbl, b.tbl) || compare(a.idx, b.idx));
}

/** As sqlite_stat1 has it: all rows, then how many are left once the first column is given, the first two, and so on. */
function statOf({ table, isUnique, columns }: Index): string {
  const all = smallTables[table] ?? rowsOfTable;
  const names = JSON.parse(columns) as (string | null)[];
  let left = all;
  const counts = names.map((name, at) => {
    const isLast = at === names.length - 1;
    left = isUnique === 1 && isLast ? 1 : Math.max(1, Math.min(left, rowsOfValue[name ?? ""] ?? Math.ceil(left / 10)));
    return left;
  });
  return [all, ...counts].join(" ");
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
