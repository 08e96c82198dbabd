/** What a client's idempotency key stands for, per organization and user. */
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

/** How long a key stands for its request. */
export const idempotencyMs = 24 * 3_600_000;

const byKey = compiled(
  "idempotency_key",
  (db, organizationId: string, userId: string, idempotencyKey: string, sinceMs: number) =>
    db
      .selectFrom("idempotency_keys")
      .select(["request", "fingerprint"])
      .where("organization_id", "=", organizationId)
      .where("user_id", "=", userId)
      .where("idempotency_key", "=", idempotencyKey)
      .where("created_at_ms", ">", sinceMs),
);

/** The request under a key that is not older than a day. */
export async function findIdempotencyKey(
  store: Store,
  organizationId: string,
  userId: string,
  idempotencyKey: string,
  nowMs: number,
): Promise<{ request: string; fingerprint: string } | undefined> {
  const [row] = await byKey(store, organizationId, userId, idempotencyKey, nowMs - idempotencyMs);
  return row && { ...row };
}

/** A key that is there already stays as it is. */
export async function insertIdempotencyKey(store: Store, row: Tables["idempotency_keys"]): Promise<void> {
  await store.db
    .insertInto("idempotency_keys")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
