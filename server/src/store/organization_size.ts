import { sql } from "kysely";
import { compiled } from "./compiled.ts";
import { columnsOfEntities, type EntityTableName } from "./entity_tables.ts";
import type { Store } from "./store.ts";

/** What `get_organization` lists, the credentials of its users, and entities of any other kind. */
const listed = [...(Object.keys(columnsOfEntities) as EntityTableName[]), "private_keys", "wallets"] as const;

const counts = compiled("organization_size", (db, organizationId: string) =>
  db
    .selectFrom("organizations")
    .select(({ selectFrom }) =>
      listed.map((table) =>
        selectFrom(table)
          .select(sql<number>`cast(count(*) as integer)`.as("count"))
          .where(`${table}.organization_id`, "=", organizationId)
          .as(table),
      ),
    )
    .where("organizations.organization_id", "=", organizationId),
);

/** How many rows a list of everything in the organization would have. Counted in the keys alone, without reading a row. */
export async function countListed(store: Store, organizationId: string): Promise<number> {
  const [row] = await counts(store, organizationId);
  return Object.values<number | null>(row ?? {}).reduce<number>((sum, count) => sum + Number(count ?? 0), 0);
}
