import type { MigrationStep } from "./step.ts";

/** What refusals have cost each user and day. */
export const refusedBytes: MigrationStep = async (db, { text, integer, strict }) => {
  await strict(
    db.schema
      .createTable("refused_bytes")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("user_id", text, (column) => column.notNull())
      .addColumn("day", integer, (column) => column.notNull())
      .addColumn("bytes", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("refused_bytes_key", ["organization_id", "user_id", "day"]),
  ).execute();
  // Old days are forgotten, whoever's they were.
  await db.schema.createIndex("refused_bytes_by_day").on("refused_bytes").column("day").execute();
};
