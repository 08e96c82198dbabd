import { sql } from "kysely";
import type { UnreleasedLeaf } from "./across.ts";
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";

const unreleasedOf = compiled("unreleased_of_activity", (db, organizationId: string, activityId: string) =>
  db
    .selectFrom("leaves")
    .select([
      "organization_id as organizationId",
      "boot",
      "number",
      "activity_id as activityId",
      "version",
      "leaf",
      "header",
      "sealed",
    ])
    .where("organization_id", "=", organizationId)
    .where("activity_id", "=", activityId)
    .where(sql<boolean>`released = 0`)
    .orderBy("number"),
);

/** Leaves of one activity that no gateway has marked as released: its answer must wait until they are. */
export async function findUnreleasedLeaves(
  store: Store,
  organizationId: string,
  activityId: string,
): Promise<UnreleasedLeaf[]> {
  return (await unreleasedOf(store, organizationId, activityId)).map((row) => ({ ...row }));
}
