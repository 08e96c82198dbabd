import type { MigrationStep } from "./step.ts";

/** Bodies with a bearer value, sealed until that has ended. */
export const sealedBodies: MigrationStep = async (db, { text, integer, bytes, wide }) => {
  await wide(
    db.schema
      .createTable("sealed_bodies")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("activity_id", text, (column) => column.notNull())
      .addColumn("sealed", bytes, (column) => column.notNull())
      .addColumn("ends_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("sealed_bodies_key", ["organization_id", "activity_id"]),
  ).execute();
  await db.schema
    .createIndex("sealed_bodies_by_end")
    .on("sealed_bodies")
    .columns(["ends_at_ms", "organization_id", "activity_id"])
    .execute();
};
