import { sql } from "kysely";
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";

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

export const unreleasedColumns = [
  "organization_id as organizationId",
  "boot",
  "number",
  "activity_id as activityId",
  "version",
  "leaf",
  "header",
  "sealed",
] as const;

const unreleasedOf = compiled("unreleased_of_activity", (db, organizationId: string, activityId: string) =>
  db
    .selectFrom("leaves")
    .select(unreleasedColumns)
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
