import { sql } from "kysely";
import type { MigrationStep } from "./step.ts";

/** Which contacts of users were verified. Until now none was. Accounts are found by verified contacts alone, through these indexes. */
export const verifiedContacts: MigrationStep = async (db, { integer }) => {
  for (const name of ["email_verified", "phone_verified"]) {
    await db.schema
      .alterTable("users")
      .addColumn(name, integer, (column) => column.notNull().defaultTo(0))
      .execute();
  }
  await db.schema
    .createIndex("users_by_verified_email")
    .on("users")
    .expression(sql`lower(user_email), organization_id`)
    .where(sql.ref("email_verified"), "=", sql.lit(1))
    .execute();
  await db.schema
    .createIndex("users_by_verified_phone_number")
    .on("users")
    .columns(["user_phone_number", "organization_id"])
    .where(sql.ref("phone_verified"), "=", sql.lit(1))
    .execute();
};
