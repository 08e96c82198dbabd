import { sql } from "kysely";
import type { MigrationStep } from "./step.ts";

/** See `contact_claims.ts`. In the order in which they are compared. */
const kinds = [
  { kind: "email", contact: sql`lower(users.user_email)`, isVerified: sql`users.email_verified = 1` },
  { kind: "phone", contact: sql`users.user_phone_number`, isVerified: sql`users.phone_verified = 1` },
];

/** Activities by which a user of a sub-organization could verify a contact with something that was only seen. */
const doubtful = [
  "ACTIVITY_TYPE_UPDATE_USER_EMAIL",
  "ACTIVITY_TYPE_UPDATE_USER_PHONE_NUMBER",
  "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS",
  "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2",
];

/**
 * Which user below a parent a contact leads to. A contact that several have verified leads to none of them until one shows again to have it;
 * so does one whose mark may have been made with a token that was only seen, as soon as somebody else shows to have it.
 */
export const contactClaims: MigrationStep = async (db, { text, integer, strict }) => {
  await strict(
    db.schema
      .createTable("contact_claims")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("kind", text, (column) => column.notNull())
      .addColumn("contact", text, (column) => column.notNull())
      .addColumn("sub_organization_id", text, (column) => column.notNull())
      .addColumn("user_id", text, (column) => column.notNull())
      .addColumn("proof", text, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("contact_claims_key", ["organization_id", "kind", "contact"]),
  ).execute();
  for (const { kind, contact, isVerified } of kinds) {
    // A user who came with its organization has the mark of that sign-up, unless it was changed since.
    await sql`insert into contact_claims
      (organization_id, kind, contact, sub_organization_id, user_id, proof, created_at_ms)
      select organizations.parent_id, ${kind}, ${contact}, min(users.organization_id), min(users.user_id),
        case when min(users.created_at_ms) = min(organizations.created_at_ms) then 'KEY' else 'EARLIER' end,
        min(users.updated_at_ms)
      from users join organizations on organizations.organization_id = users.organization_id
      where ${isVerified} and organizations.parent_id is not null and organizations.deleted_at_ms is null
      group by organizations.parent_id, ${contact} having count(*) = 1`.execute(db);
  }
  await sql`update contact_claims set proof = 'EARLIER' where sub_organization_id in (
    select organization_id from activities
    where type in (${sql.join(doubtful)}) and status = 'ACTIVITY_STATUS_COMPLETED')`.execute(db);
};
