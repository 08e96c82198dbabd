import { sql } from "kysely";
import type { MigrationStep } from "./step.ts";

/** See `contact_claims.ts`. In the order in which they are compared. */
const kinds = [
  { kind: "email", contact: sql`lower(users.user_email)`, isVerified: sql`users.email_verified = 1` },
  { kind: "phone", contact: sql`users.user_phone_number`, isVerified: sql`users.phone_verified = 1` },
];

/**
 * Which user below a parent a contact leads to. What earlier versions verified may have been verified with a token that was only seen, and
 * nothing tells which: it leads on until somebody else shows to have the contact. One that several have verified leads to none of them.
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
    await sql`insert into contact_claims
      (organization_id, kind, contact, sub_organization_id, user_id, proof, created_at_ms)
      select organizations.parent_id, ${kind}, ${contact}, min(users.organization_id), min(users.user_id),
        'EARLIER', min(users.updated_at_ms)
      from users join organizations on organizations.organization_id = users.organization_id
      where ${isVerified} and organizations.parent_id is not null and organizations.deleted_at_ms is null
      group by organizations.parent_id, ${contact} having count(*) = 1`.execute(db);
  }
};
