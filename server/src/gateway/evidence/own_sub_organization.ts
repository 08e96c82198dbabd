/**
 * Which sub-organization a credential belongs to, for clients that know only the parent. Public keys are public, and anyone can add a
 * stranger's to an organization of his own: so only those count where the key is proven (state/proven.ts), and the others only where none
 * does. That a key which is proven nowhere belongs to the only sub-organization that knows it is the gateway's word.
 */
import { ambiguousCredential, type Evidence, lookupOf } from "../../evidence/evidence.ts";
import { findInSubOrganizations } from "../../store/across.ts";
import { type CallerRow, findCallerByUser } from "../../store/organizations.ts";
import type { Store } from "../../store/store.ts";

/** The caller in the one that counts; undefined where no sub-organization knows the credential. */
export async function findOwnSubOrganization(
  store: Store,
  parentId: string,
  evidence: Evidence,
): Promise<CallerRow | undefined> {
  const lookup = lookupOf(evidence);
  if (lookup.by === "user") {
    const own = await findCallerByUser(store, lookup.organizationId, lookup.userId);
    return own?.parentId === parentId ? own : undefined;
  }
  // No contact is verified yet.
  if (lookup.by === "contact") return undefined;
  const [match, ...others] = await findInSubOrganizations(store, parentId, lookup.curve, lookup.publicKey);
  if (others.length === 0) return match;
  throw ambiguousCredential(evidence);
}
