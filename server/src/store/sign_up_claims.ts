/**
 * Which sign-up was the first with an identity, below one parent. Whether a sub-organization has an identity is told by the rows of its
 * users and credentials; a claim settles who was first where two sign-ups have both looked and found nobody.
 */
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";

export type SignUpClaim = { identity: string; subOrganizationId: string; createdAtMs: number };

const byIdentity = compiled("sign_up_claim", (db, parentId: string, identity: string) =>
  db
    .selectFrom("sign_up_claims")
    .select(["identity", "sub_organization_id as subOrganizationId", "created_at_ms as createdAtMs"])
    .where("organization_id", "=", parentId)
    .where("identity", "=", identity),
);

export async function findSignUpClaim(
  store: Store,
  parentId: string,
  identity: string,
): Promise<SignUpClaim | undefined> {
  const [claim] = await byIdentity(store, parentId, identity);
  return claim && { ...claim };
}

/** This very claim, and not one that somebody has made in its place since. */
export async function dropSignUpClaim(store: Store, parentId: string, claim: SignUpClaim): Promise<void> {
  await store.db
    .deleteFrom("sign_up_claims")
    .where("organization_id", "=", parentId)
    .where("identity", "=", claim.identity)
    .where("sub_organization_id", "=", claim.subOrganizationId)
    .execute();
}
