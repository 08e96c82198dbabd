import type { MigrationStep } from "./step.ts";

/** What sessions may do that name a profile, and which profile a session's key has. */
export const sessionProfiles: MigrationStep = async (db, { text, integer, strict }) => {
  await strict(
    db.schema
      .createTable("session_profiles")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("session_profile_id", text, (column) => column.notNull())
      .addColumn("session_profile_name", text, (column) => column.notNull())
      .addColumn("scope", text, (column) => column.notNull())
      .addColumn("expiration_seconds", integer)
      .addColumn("notes", text, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("session_profiles_key", ["organization_id", "session_profile_id"]),
  ).execute();
  await db.schema
    .createIndex("session_profiles_in_order")
    .on("session_profiles")
    .columns(["organization_id", "created_at_ms", "session_profile_id"])
    .execute();
  await db.schema.alterTable("credentials").addColumn("session_profile_id", text).execute();
};
