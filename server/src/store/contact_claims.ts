/**
 * To which user below a parent a verified contact leads: to one at most. A user's mark says that they have shown to have the contact; the
 * claim commits with it, and a second user's mark does not commit. A lying gateway can leave a claim out, or make one: then a contact leads
 * to another user who has shown to have it, or to none.
 *
 * `proof`: KEY where the holder of a key has shown to have the contact, WORD where the parent says so. A claim of an earlier version that
 * may have been made with a token that was only seen is EARLIER, and gives way to a KEY.
 */
import { comparableContact } from "@keystead/core/otp/otp_types.ts";
import { type Kysely, sql } from "kysely";
import type { NewMark } from "../state/contacts.ts";
import { compiled } from "./compiled.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

export type NewContactClaim = NewMark & { readonly parentId: string; readonly createdAtMs: number };

export function claimKey({ kind, contact }: Pick<NewMark, "kind" | "contact">): string {
  return `${kind} ${comparableContact(kind, contact)}`;
}

export function contactClaimRow(
  subOrganizationId: string,
  { parentId, userId, kind, contact, proof, createdAtMs }: NewContactClaim,
): Tables["contact_claims"] {
  return {
    organization_id: parentId,
    kind,
    contact: comparableContact(kind, contact),
    sub_organization_id: subOrganizationId,
    user_id: userId,
    proof,
    created_at_ms: createdAtMs,
  };
}

/** The user has the contact verified still; asked of the joined rows of the claim's user and organization. */
export const isStillVerified = sql<boolean>`organizations.deleted_at_ms is null and case contact_claims.kind
  when 'email' then users.email_verified = 1 and lower(users.user_email) = contact_claims.contact
  else users.phone_verified = 1 and users.user_phone_number = contact_claims.contact end`;

/** The same of a claim alone. */
export const claimStands = sql<boolean>`exists (select 1 from users join organizations
    on organizations.organization_id = users.organization_id
  where users.organization_id = contact_claims.sub_organization_id and users.user_id = contact_claims.user_id
    and ${isStillVerified})`;

export type ContactClaim = Tables["contact_claims"] & { stands: boolean };

const claimOf = compiled("contact_claim", (db, parentId: string, kind: string, contact: string) =>
  db
    .selectFrom("contact_claims")
    .selectAll()
    .select(sql<number>`case when ${claimStands} then 1 else 0 end`.as("stands"))
    .where("organization_id", "=", parentId)
    .where("kind", "=", kind)
    .where("contact", "=", contact),
);

export async function findContactClaim(
  store: Store,
  parentId: string,
  { kind, contact }: Pick<NewMark, "kind" | "contact">,
): Promise<ContactClaim | undefined> {
  const [claim] = await claimOf(store, parentId, kind, comparableContact(kind, contact));
  return claim && { ...claim, stands: claim.stands === 1 };
}

/** The same inside a transaction. */
export async function findClaimIn(
  tx: Kysely<Tables>,
  parentId: string,
  { kind, contact }: Pick<NewMark, "kind" | "contact">,
): Promise<Tables["contact_claims"] | undefined> {
  return tx
    .selectFrom("contact_claims")
    .selectAll()
    .where("organization_id", "=", parentId)
    .where("kind", "=", kind)
    .where("contact", "=", comparableContact(kind, contact))
    .executeTakeFirst();
}

/** This very claim, and not one that was made in its place since. */
export async function dropContactClaim({ db }: Store, claim: ContactClaim): Promise<void> {
  await db
    .deleteFrom("contact_claims")
    .where("organization_id", "=", claim.organization_id)
    .where("kind", "=", claim.kind)
    .where("contact", "=", claim.contact)
    .where("sub_organization_id", "=", claim.sub_organization_id)
    .where("user_id", "=", claim.user_id)
    .where("created_at_ms", "=", claim.created_at_ms)
    .execute();
}
