/** The rows of entities in a group commit in SQLite. */
import type { SQLInputValue } from "node:sqlite";
import type { EntityPlan } from "./entity_plan.ts";
import type { EntityRow, WrittenRows } from "./entity_rows.ts";
import { type TabledKind, tableOf } from "./entity_tables.ts";
import type { SqliteConnection } from "./sqlite_dialect.ts";
import { insert } from "./sqlite_insert.ts";
import { columnsOf } from "./upserts.ts";

/** Rows are deleted before any is written, so that what no two may have can pass from one to another. */
export function writeEntities(sqlite: SqliteConnection, organizationId: string, plan: EntityPlan): void {
  for (const [kind, planned] of plan) {
    const { table, id, parts } = tableOf(kind);
    const newParts = parts === undefined ? [] : deleteParts(sqlite, organizationId, kind, planned);
    for (const [entityId, rows] of planned) {
      if (rows !== undefined) continue;
      sqlite.statement(`delete from ${table} where organization_id = ? and ${id} = ?`).run(organizationId, entityId);
    }
    for (const rows of planned.values()) {
      if (rows === undefined) continue;
      // One that keeps its parts was there before.
      const isWritten = parts !== undefined && rows.parts === undefined && setUnindexed(sqlite, kind, rows.row);
      if (!isWritten) insert(sqlite, table, rows.row);
    }
    if (parts !== undefined) for (const part of newParts) insert(sqlite, parts.table, part);
  }
}

const unindexed = new Map<TabledKind, { text: string; columns: readonly string[] }>();

/** Sets what no index knows of, if all that indexes know is as it was: a tag for a thousand users changes none of their names. */
function setUnindexed(sqlite: SqliteConnection, kind: TabledKind, row: EntityRow): boolean {
  let statement = unindexed.get(kind);
  if (statement === undefined) {
    const { table, id, indexed = [] } = tableOf(kind);
    const same = ["organization_id", id, ...indexed];
    const set = columnsOf(table).filter((column) => !same.includes(column));
    const conditions = same.map((column) => `${column} ${indexed.includes(column) ? "is" : "="} ?`).join(" and ");
    const text = `update ${table} set ${set.map((column) => `${column} = ?`).join(", ")} where ${conditions}`;
    statement = { text, columns: [...set, ...same] };
    unindexed.set(kind, statement);
  }
  const values = statement.columns.map((column) => row[column] as SQLInputValue);
  return sqlite.statement(statement.text).run(...values).changes === 1;
}

/** Deletes the parts that are gone, and returns those that are new or not as they were. */
function deleteParts(
  sqlite: SqliteConnection,
  organizationId: string,
  kind: TabledKind,
  planned: ReadonlyMap<string, WrittenRows | undefined>,
): EntityRow[] {
  const { parts } = tableOf(kind);
  if (parts === undefined) return [];
  const { table, id, owner } = parts;
  const wanted = new Map<unknown, EntityRow>();
  for (const rows of planned.values()) for (const part of rows?.parts ?? []) wanted.set(part[id], part);
  for (const [ownerId, rows] of planned) {
    if (rows !== undefined && rows.parts === undefined) continue;
    const stored = sqlite
      .statement(`select * from ${table} where organization_id = ? and ${owner} = ?`)
      .all(organizationId, ownerId) as EntityRow[];
    for (const part of stored) {
      const next = wanted.get(part[id]);
      if (next === undefined) {
        const text = `delete from ${table} where organization_id = ? and ${id} = ?`;
        sqlite.statement(text).run(organizationId, part[id] as string);
      } else if (isSame(part, next)) wanted.delete(part[id]);
    }
  }
  return [...wanted.values()];
}

function isSame(a: EntityRow, b: EntityRow): boolean {
  return Object.keys(b).every((column) => a[column] === b[column]);
}
