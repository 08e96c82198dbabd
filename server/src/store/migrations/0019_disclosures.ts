import type { MigrationStep } from "./step.ts";

/** Bytes that leaves name by their SHA-256 and that no other table keeps. */
export const disclosures: MigrationStep = async (db, { text, bytes, strict }) => {
  await strict(
    db.schema
      .createTable("disclosures")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("digest", text, (column) => column.notNull())
      .addColumn("content", bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint("disclosures_key", ["organization_id", "digest"]),
  ).execute();
};
