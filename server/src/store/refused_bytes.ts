/** How many bytes the refusals of a user have taken on one day, in UTC. Written in the transaction that stores each of them. */
import type { Refusal } from "./commit_item.ts";
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";

const dayMs = 24 * 3_600_000;

export function dayOf(ms: number): number {
  return Math.floor(ms / dayMs);
}

const beyond = compiled("refused_bytes", (db, organizationId: string, userId: string, day: number, bytes: number) =>
  db
    .selectFrom("refused_bytes")
    .select("user_id")
    .where("organization_id", "=", organizationId)
    .where("user_id", "=", userId)
    .where("day", "=", day)
    .where("bytes", ">", bytes),
);

/** Whether a user's refusals of that day have taken more than these bytes. The organization is the user's, wherever they ran. */
export async function haveRefusalsTaken(
  store: Store,
  { organizationId, userId, day }: Omit<Refusal, "bytes">,
  bytes: number,
): Promise<boolean> {
  return (await beyond(store, organizationId, userId, day, bytes)).length > 0;
}
