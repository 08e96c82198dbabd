/**
 * Bodies with a bearer value. Beside the activity's row, which has the body's shown form, lies the whole body sealed, until the value has
 * ended. Then the row gets the body itself, and this row goes.
 */
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";

/** A body as a commit brings it: in the activity's row is its shown form. */
export type NewSealedBody = { sealed: Uint8Array; endsAtMs: number };

const sealedBody = compiled("sealed_body", (db, organizationId: string, activityId: string) =>
  db
    .selectFrom("sealed_bodies")
    .select("sealed")
    .where("organization_id", "=", organizationId)
    .where("activity_id", "=", activityId),
);

/** None once it is opened. */
export async function findSealedBody(
  store: Store,
  organizationId: string,
  activityId: string,
): Promise<Uint8Array | undefined> {
  const [row] = await sealedBody(store, organizationId, activityId);
  return row?.sealed;
}

/** A body that may be opened, with what it is asked for by. */
export type ClosedBody = {
  organizationId: string;
  activityId: string;
  /** Hex. */
  fingerprint: string;
  sealed: Uint8Array;
  endsAtMs: number;
};

/** From now on the activity's row has the body as it was stamped. Done before by another gateway, it changes nothing. */
export async function storeOpenedBody(
  { db }: Store,
  { organizationId, activityId }: Pick<ClosedBody, "organizationId" | "activityId">,
  body: Uint8Array,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .updateTable("activities")
      .set({ body })
      .where("organization_id", "=", organizationId)
      .where("activity_id", "=", activityId)
      .execute();
    await tx
      .deleteFrom("sealed_bodies")
      .where("organization_id", "=", organizationId)
      .where("activity_id", "=", activityId)
      .execute();
  });
}
