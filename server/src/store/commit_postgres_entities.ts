/** The parts of a group's statement in PostgreSQL that write the rows of entities. */
import type { EntityRow, WrittenRows } from "./entity_rows.ts";
import { type EntityTableName, type TabledKind, tabledKinds, tableOf } from "./entity_tables.ts";
import type { OrganizationPlan } from "./organization_plan.ts";
import { deleteRows, rowKeyColumns, type StatementBuilder } from "./postgres_statement.ts";
import type { Tables } from "./tables.ts";

type Parts = NonNullable<ReturnType<typeof tableOf>["parts"]>;
type Planned = { readonly organization_id: string; readonly id: string; readonly rows: WrittenRows | undefined };

/** `kept`: the ids of its parts, which are UUIDs. */
const ownerColumns = { ...rowKeyColumns, kept: "text" } as const;

/** In the order of the kinds, so that there are few different statements. */
export function addEntities(statement: StatementBuilder, plans: readonly OrganizationPlan[]): void {
  const touched = plans.filter(({ entities }) => entities.size > 0);
  if (touched.length === 0) return;
  for (const kind of tabledKinds) {
    const planned = touched.flatMap(({ organizationId, entities }) =>
      [...(entities.get(kind) ?? [])].map(([id, rows]) => ({ organization_id: organizationId, id, rows })),
    );
    if (planned.length > 0) addKind(statement, kind, planned);
  }
}

function addKind(statement: StatementBuilder, kind: TabledKind, planned: readonly Planned[]): void {
  const { table, id, parts } = tableOf(kind);
  const newParts = planned.flatMap(({ rows }) => rows?.parts ?? []);
  if (parts !== undefined) deleteParts(statement, parts, planned);
  deleteRows(
    statement,
    table,
    id,
    planned.filter(({ rows }) => rows === undefined),
  );
  insert(
    statement,
    table,
    planned.flatMap(({ rows }) => rows?.row ?? []),
  );
  if (parts !== undefined) insert(statement, parts.table, newParts, `delete_${parts.table}`);
}

/**
 * A part is deleted before any is written, so that what no two may have can pass from one to another. Each owner brings the ids of its
 * own: held against those of all, a thousand users would be compared with a thousand keys each.
 */
function deleteParts(statement: StatementBuilder, { table, id, owner }: Parts, planned: readonly Planned[]): void {
  const touched = planned.flatMap(({ rows, ...key }) => {
    if (rows !== undefined && rows.parts === undefined) return [];
    return { ...key, kept: rows?.parts?.map((part) => part[id]).join() ?? "" };
  });
  if (touched.length === 0) return;
  statement.part(
    `delete_${table}`,
    `delete from ${table} using ${statement.unnest("touched", ownerColumns, touched)}
      where ${table}.organization_id = touched.organization_id and ${table}.${owner} = touched.id
        and touched.organization_id in (select organization_id from committed)
        and ${table}.${id} <> all (string_to_array(touched.kept, ','))
      returning 1`,
  );
}

function insert(statement: StatementBuilder, table: EntityTableName, rows: readonly EntityRow[], after?: string): void {
  statement.insert(table, rows as unknown as readonly Tables[EntityTableName][], after);
}
