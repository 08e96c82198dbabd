/** Reads entities of one kind from their table. How many an organization may have is limited, so they need no pages. */
import { type CompiledQuery, type Kysely, sql } from "kysely";
import type { Entities } from "../state/entities.ts";
import { compiled } from "./compiled.ts";
import { type EntityRow, fromRow } from "./entity_rows.ts";
import { type PlainKind, tableOf } from "./entity_tables.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

export type EntityReader<E> = {
  find(store: Store, organizationId: string, id: string): Promise<E | undefined>;
  /** All of them, the oldest first. */
  list(store: Store, organizationId: string): Promise<E[]>;
};

export function entityReader<K extends PlainKind>(kind: K): EntityReader<Entities[K]> {
  const { table, id } = tableOf(kind);
  const [from, key] = [sql.table(table), sql.ref(id)];
  const byId = compiled(`${table}_by_id`, (db, organizationId: string, entityId: string) =>
    query(db, sql`select * from ${from} where organization_id = ${organizationId} and ${key} = ${entityId}`),
  );
  const all = compiled(`${table}_of_organization`, (db, organizationId: string) =>
    query(db, sql`select * from ${from} where organization_id = ${organizationId} order by created_at_ms, ${key}`),
  );
  return {
    async find(store, organizationId, entityId) {
      const [row] = await byId(store, organizationId, entityId);
      return row && fromRow(kind, row);
    },
    async list(store, organizationId) {
      return (await all(store, organizationId)).map((row) => fromRow(kind, row));
    },
  };
}

function query(db: Kysely<Tables>, text: ReturnType<typeof sql>) {
  return { compile: () => text.compile(db) as CompiledQuery<EntityRow> };
}
