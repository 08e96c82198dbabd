import type { MigrationStep } from "./step.ts";

/** App proofs, sealed until their leaf is released, and what the proven decisions were taken on. */
export const appProofs: MigrationStep = async (db, { text, integer, bytes, wide }) => {
  await wide(
    db.schema
      .createTable("app_proofs")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("activity_id", text, (column) => column.notNull())
      .addColumn("boot", text, (column) => column.notNull())
      .addColumn("number", integer, (column) => column.notNull())
      .addColumn("sealed", bytes, (column) => column.notNull())
      .addColumn("proofs", text)
      .addPrimaryKeyConstraint("app_proofs_key", ["organization_id", "activity_id"]),
  ).execute();
  await wide(
    db.schema
      .createTable("decision_contexts")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("digest", text, (column) => column.notNull())
      .addColumn("owner_id", text, (column) => column.notNull())
      .addColumn("content", bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint("decision_contexts_key", ["organization_id", "digest"]),
  ).execute();
};
