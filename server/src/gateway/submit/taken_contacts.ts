/**
 * Contacts that lead to other users already. They are looked for once the signer has seen the proof, so the answer tells nothing about a
 * contact to anyone who does not have it; and before the commit, whose refusal would take back all that it writes for the organization:
 * its unique key is for races. The refusal follows from rows and is stored nowhere.
 */
import { Fault } from "@keystead/core/fault.ts";
import type { CommitItem } from "../../store/commit_item.ts";
import { dropContactClaim, findContactClaim, type NewContactClaim } from "../../store/contact_claims.ts";
import type { Store } from "../../store/store.ts";

/** Throws where one leads to somebody else. Claims whose users have given the contact up are dropped. */
export async function refuseTakenContacts(store: Store, item: CommitItem): Promise<void> {
  for (const each of [item, ...(item.births ?? [])]) {
    for (const claim of each.contactClaims ?? []) await refuseTaken(store, claim, each.birth !== undefined);
  }
}

async function refuseTaken(store: Store, claim: NewContactClaim, isSignUp: boolean): Promise<void> {
  const known = await findContactClaim(store, claim.parentId, claim);
  if (known === undefined || known.user_id === claim.userId) return;
  if (known.proof === "EARLIER" && claim.proof === "KEY") return;
  if (known.stands) throw takenContact(isSignUp);
  await dropContactClaim(store, known);
}

function takenContact(isSignUp: boolean): Fault {
  const instead = isSignUp ? "sign in to it" : "its user must remove the contact first";
  return new Fault("already_exists", `a sub-organization with this contact exists: ${instead}`);
}
