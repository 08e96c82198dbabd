import { sql } from "kysely";
import type { MigrationStep } from "./step.ts";

/** Which keys are proven, for finding a sub-organization by its key. Of those that are there, the ones that came with their organization. */
export const provenKeys: MigrationStep = async (db, { integer }) => {
  await db.schema
    .alterTable("credentials")
    .addColumn("proven", integer, (column) => column.notNull().defaultTo(0))
    .execute();
  // As `withBirthKeysProven` reads older pages.
  await sql`
    update credentials set proven = 1
    where created_at_ms = (
      select organizations.created_at_ms from organizations
      where organizations.organization_id = credentials.organization_id
    )`.execute(db);
  // Strangers can write down a key any number of times, and prove it never: the look-up must not read past all of them.
  await db.schema
    .createIndex("credentials_proven_across")
    .on("credentials")
    .columns(["public_key", "organization_id"])
    .where(sql`proven`, "=", sql.lit(1))
    .execute();
};
