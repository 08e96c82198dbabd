import type { MigrationStep } from "./step.ts";

/** Records of one-time codes, and which bodies have claimed one of the few attempts at each. */
export const oneTimeCodes: MigrationStep = async (db, { text, integer, bytes, strict }) => {
  await strict(
    db.schema
      .createTable("otp_codes")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("otp_id", text, (column) => column.notNull())
      .addColumn("record", bytes, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("otp_codes_key", ["organization_id", "otp_id"]),
  ).execute();
  await strict(
    db.schema
      .createTable("otp_attempts")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("otp_id", text, (column) => column.notNull())
      .addColumn("place", integer, (column) => column.notNull())
      .addColumn("fingerprint", text, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("otp_attempts_key", ["organization_id", "otp_id", "place"]),
  ).execute();
  // Old ones are forgotten, whoever's they were.
  await db.schema.createIndex("otp_codes_by_age").on("otp_codes").column("created_at_ms").execute();
  await db.schema.createIndex("otp_attempts_by_age").on("otp_attempts").column("created_at_ms").execute();
};
