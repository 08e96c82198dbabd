/** Entities as rows and back, by the table of their kinds. */
import { Fault } from "@keystead/core/fault.ts";
import type { Entities } from "../state/entities.ts";
import { entitiesIn, type Pages } from "../state/pages.ts";
import {
  type EntityColumn,
  type EntityTableName,
  hasRecord,
  type OutsideColumn,
  type PlainKind,
  type TabledKind,
  tabledKinds,
  tableOf,
} from "./entity_tables.ts";

type Value = string | number | Uint8Array | null;

/** A row of one of the tables of entities. */
export type EntityRow = { organization_id: string } & Record<string, Value>;

/** An entity as it is shown: its row, and the rows of its parts. */
export type EntityRows = { readonly row: EntityRow; readonly parts: readonly EntityRow[] };

/** The same as it is written. Undefined: its parts stay as they are. */
export type WrittenRows = { readonly row: EntityRow; readonly parts: readonly EntityRow[] | undefined };

type Columns = Readonly<Record<string, EntityColumn | OutsideColumn>>;
type Outside = { readonly record?: Uint8Array | undefined; readonly owner?: string };

const noParts: readonly EntityRow[] = [];

/** `record` is the one that came with the entity, where its kind has any. */
export function toRows<K extends TabledKind>(
  kind: K,
  organizationId: string,
  entity: Entities[K],
  record?: Uint8Array,
): EntityRows {
  const { id, columns, parts } = tableOf(kind);
  const row = toRow(columns, organizationId, entity, { record });
  if (parts === undefined) return { row, parts: noParts };
  const owner = row[id] as string;
  const own = parts.partsOf(entity).map((part) => toRow(parts.columns, organizationId, part, { owner }));
  return { row, parts: own };
}

function toRow(columns: Columns, organizationId: string, entity: object, outside: Outside): EntityRow {
  const row: EntityRow = { organization_id: organizationId };
  for (const [name, column] of Object.entries(columns)) {
    const value = "from" in column ? outside[column.from] : toValue(column, entity);
    if (value === undefined) throw new Fault("internal", `the column ${name} has no value`);
    if (typeof value === "string") refuseNul(value);
    row[name] = value;
  }
  return row;
}

function toValue({ field, form, kind }: EntityColumn, entity: object): Value | undefined {
  const value = (entity as Readonly<Record<string, unknown>>)[field];
  if (form === "json") return JSON.stringify(value);
  if (form === "flag") return Number(value !== undefined && value !== false);
  return value === undefined && kind.endsWith("?") ? null : (value as Value | undefined);
}

/** The entity that a row shows, without its parts. What is null, or a flag that is not set, is absent. */
export function fromRow<K extends PlainKind>(kind: K, row: object): Entities[K] {
  return fromColumns(tableOf(kind).columns, row) as Entities[K];
}

/** The fields that columns show. In a row of several tables, `prefix` is before the name of each column. */
export function fromColumns(columns: Columns, row: object, prefix = ""): Readonly<Record<string, unknown>> {
  const stored = row as EntityRow;
  const entity: Record<string, unknown> = {};
  for (const [name, column] of Object.entries(columns)) {
    if ("from" in column) continue;
    const value = stored[prefix + name];
    if (column.form === "json") entity[column.field] = JSON.parse(value as string);
    else if (column.form === "flag") {
      if (value === 1) entity[column.field] = true;
    } else if (value !== null) entity[column.field] = value;
  }
  return entity;
}

/** SQLite would store a NUL and PostgreSQL refuse it. The reader of bodies lets none in, so one here is our mistake. */
export function refuseNul(...texts: readonly (string | null | undefined)[]): void {
  for (const text of texts) if (text?.includes("\0")) throw new Fault("internal", "text for the database contains NUL");
}

/** Every row that the pages list, by table. What is not among them must not be there. Tables with records are left out. */
export function rowsOfPages(organizationId: string, pages: Pages): Map<EntityTableName, EntityRow[]> {
  const rows = new Map<EntityTableName, EntityRow[]>();
  for (const kind of tabledKinds) {
    if (hasRecord(kind)) continue;
    const { table, parts } = tableOf(kind);
    const all = [...entitiesIn(pages, kind).values()].map((entity) => toRows(kind, organizationId, entity));
    rows.set(
      table,
      all.map(({ row }) => row),
    );
    if (parts !== undefined)
      rows.set(
        parts.table,
        all.flatMap((each) => each.parts),
      );
  }
  return rows;
}
