/** Reads entities of one kind from their table. How many an organization may have is limited, so they need no pages. */
import { type CompiledQuery, type Kysely, sql } from "kysely";
import type { Entities } from "../state/entities.ts";
import { mapWithBreaths } from "./breaths.ts";
import { compiled } from "./compiled.ts";
import { type EntityRow, fromRow } from "./entity_rows.ts";
import { type PlainKind, tableOf } from "./entity_tables.ts";
import { type Keyed, readByAge } from "./pieces.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

export type EntityReader<E> = {
  find(store: Store, organizationId: string, id: string): Promise<E | undefined>;
  /** All of them, the oldest first. */
  list(store: Store, organizationId: string): Promise<E[]>;
};

const rowsOfPiece = 256;

type AgedRow = EntityRow & { created_at_ms: number };

export function entityReader<K extends PlainKind>(kind: K): EntityReader<Entities[K]> {
  const { table, id } = tableOf(kind);
  const [from, key] = [sql.table(table), sql.ref(id)];
  const byId = compiled(`${table}_by_id`, (db, organizationId: string, entityId: string) =>
    query(db, sql`select * from ${from} where organization_id = ${organizationId} and ${key} = ${entityId}`),
  );
  const next = compiled(`${table}_of_organization`, (db, organizationId: string, after: string) =>
    query(
      db,
      sql`select * from ${from} where organization_id = ${organizationId} and ${key} > ${after} order by ${key} limit ${sql.lit(rowsOfPiece)}`,
    ),
  );
  const keyed: Keyed<AgedRow> = {
    size: rowsOfPiece,
    read: async (...asked) => (await next(...asked)) as AgedRow[],
    keyOf: (row) => String(row[id as keyof AgedRow]),
  };
  return {
    async find(store, organizationId, entityId) {
      const [row] = await byId(store, organizationId, entityId);
      return row && fromRow(kind, row);
    },
    async list(store, organizationId) {
      const rows = await readByAge(store, organizationId, keyed, (row) => row.created_at_ms);
      return mapWithBreaths(rows, (row) => fromRow(kind, row));
    },
  };
}

function query(db: Kysely<Tables>, text: ReturnType<typeof sql>) {
  return { compile: () => text.compile(db) as CompiledQuery<EntityRow> };
}
