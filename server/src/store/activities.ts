import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";

/** An activity as stored. `slot` is set once a journal lists its fingerprint, and never for pure signing. */
export type ActivityRow = {
  activityId: string;
  /** Lower-case hex of SHA-256 over the body. */
  fingerprint: string;
  type: string;
  status: string;
  /** As it was stamped; of one with a bearer value that has not ended, the shown form (`rules/bearer_params.ts`). */
  body: Uint8Array;
  /** JSON. Null until a sealed result is released. */
  result: string | null;
  /** JSON. */
  failure: string | null;
  /** JSON of the submission's own vote, as a list. */
  votes: string;
  slot: number | null;
  createdAtMs: number;
  updatedAtMs: number;
};

export const activityColumns = [
  "activity_id as activityId",
  "fingerprint",
  "type",
  "status",
  "body",
  "result",
  "failure",
  "votes",
  "slot",
  "created_at_ms as createdAtMs",
  "updated_at_ms as updatedAtMs",
] as const;

const byFingerprint = compiled("activity_by_fingerprint", (db, organizationId: string, fingerprint: string) =>
  db
    .selectFrom("activities")
    .select(activityColumns)
    .where("organization_id", "=", organizationId)
    .where("fingerprint", "=", fingerprint),
);

export async function findActivityByFingerprint(
  store: Store,
  organizationId: string,
  fingerprint: string,
): Promise<ActivityRow | undefined> {
  const [row] = await byFingerprint(store, organizationId, fingerprint);
  return row && { ...row };
}

const byId = compiled("activity_by_id", (db, organizationId: string, activityId: string) =>
  db
    .selectFrom("activities")
    .select(activityColumns)
    .where("organization_id", "=", organizationId)
    .where("activity_id", "=", activityId),
);

export async function findActivity(
  store: Store,
  organizationId: string,
  activityId: string,
): Promise<ActivityRow | undefined> {
  const [row] = await byId(store, organizationId, activityId);
  return row && { ...row };
}

const votesOf = compiled("votes_of_activity", (db, organizationId: string, activityId: string) =>
  db
    .selectFrom("votes")
    .select("vote")
    .where("organization_id", "=", organizationId)
    .where("activity_id", "=", activityId)
    .orderBy("created_at_ms")
    .orderBy("vote_id"),
);

/** Votes after the submission's own, oldest first, as JSON. */
export async function listVotes(store: Store, organizationId: string, activityId: string): Promise<string[]> {
  return (await votesOf(store, organizationId, activityId)).map(({ vote }) => vote);
}
