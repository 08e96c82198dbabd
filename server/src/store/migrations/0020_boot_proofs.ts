import type { MigrationStep } from "./step.ts";

/** The boot proofs of all starts, and the lists of files that they name, each list once. */
export const bootProofs: MigrationStep = async (db, { text, integer, bytes, wide }) => {
  await wide(
    db.schema
      .createTable("boot_proofs")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("ephemeral_key", text, (column) => column.notNull())
      .addColumn("boot", text, (column) => column.notNull())
      .addColumn("proof", bytes, (column) => column.notNull())
      .addColumn("files_digest", text, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("boot_proofs_key", ["organization_id", "ephemeral_key"]),
  ).execute();
  await db.schema.createIndex("boot_proofs_by_key").on("boot_proofs").column("ephemeral_key").execute();
  await db.schema.createIndex("boot_proofs_by_age").on("boot_proofs").column("created_at_ms").execute();
  await wide(
    db.schema
      .createTable("loaded_files")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("digest", text, (column) => column.notNull())
      .addColumn("list", bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint("loaded_files_key", ["organization_id", "digest"]),
  ).execute();
};
