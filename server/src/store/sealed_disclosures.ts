/**
 * Tokens that came with stamps and that leaves name by their SHA-256. Each lies sealed until it has ended: then it is among the
 * disclosures, for whoever checks the log, and this row goes.
 */
import { disclosureRow } from "./disclosures.ts";
import type { Store } from "./store.ts";

/** One as a commit brings it. */
export type NewSealedDisclosure = { digest: Uint8Array; sealed: Uint8Array; endsAtMs: number };

/** One that may be opened. */
export type ClosedDisclosure = { organizationId: string; digest: string; sealed: Uint8Array; endsAtMs: number };

/** Done before by another gateway, it changes nothing. */
export async function storeOpenedDisclosure(
  { db }: Store,
  { organizationId, digest }: Pick<ClosedDisclosure, "organizationId" | "digest">,
  content: Uint8Array,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto("disclosures")
      .values(disclosureRow(organizationId, content))
      .onConflict((conflict) => conflict.columns(["organization_id", "digest"]).doNothing())
      .execute();
    await tx
      .deleteFrom("sealed_disclosures")
      .where("organization_id", "=", organizationId)
      .where("digest", "=", digest)
      .execute();
  });
}
