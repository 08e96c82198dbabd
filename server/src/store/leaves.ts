import type { Kysely } from "kysely";
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

/** A committed leaf that no gateway has marked as released. */
export type UnreleasedLeaf = {
  organizationId: string;
  boot: string;
  number: number;
  activityId: string | null;
  version: number | null;
  leaf: Uint8Array;
  header: Uint8Array | null;
  sealed: Uint8Array | null;
};

/** Unreleased leaves with their bytes, for whoever narrows them down. */
export function selectUnreleased(db: Kysely<Tables>) {
  return db
    .selectFrom("unreleased")
    .innerJoin("leaves", (join) =>
      join
        .onRef("leaves.organization_id", "=", "unreleased.organization_id")
        .onRef("leaves.boot", "=", "unreleased.boot")
        .onRef("leaves.number", "=", "unreleased.number"),
    )
    .select([
      "leaves.organization_id as organizationId",
      "leaves.boot",
      "leaves.number",
      "leaves.activity_id as activityId",
      "leaves.version",
      "leaves.leaf",
      "leaves.header",
      "leaves.sealed",
    ]);
}

const unreleasedOf = compiled("unreleased_of_activity", (db, organizationId: string, activityId: string) =>
  selectUnreleased(db)
    .where("unreleased.organization_id", "=", organizationId)
    .where("leaves.activity_id", "=", activityId)
    .orderBy("leaves.number"),
);

/** Leaves of one activity that no gateway has marked as released: its answer must wait until they are. */
export async function findUnreleasedLeaves(
  store: Store,
  organizationId: string,
  activityId: string,
): Promise<UnreleasedLeaf[]> {
  return (await unreleasedOf(store, organizationId, activityId)).map((row) => ({ ...row }));
}
