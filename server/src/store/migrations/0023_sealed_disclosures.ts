import type { MigrationStep } from "./step.ts";

/** Tokens that leaves name by their SHA-256, sealed until they have ended. */
export const sealedDisclosures: MigrationStep = async (db, { text, integer, bytes, wide }) => {
  await wide(
    db.schema
      .createTable("sealed_disclosures")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("digest", text, (column) => column.notNull())
      .addColumn("sealed", bytes, (column) => column.notNull())
      .addColumn("ends_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("sealed_disclosures_key", ["organization_id", "digest"]),
  ).execute();
  await db.schema
    .createIndex("sealed_disclosures_by_end")
    .on("sealed_disclosures")
    .columns(["ends_at_ms", "organization_id", "digest"])
    .execute();
};
