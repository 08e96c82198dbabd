import type { MigrationStep } from "./step.ts";

/** The public log: where leaves stand in it, its entries and full tiles, and its newest checkpoints. */
export const publicLog: MigrationStep = async (db, { text, integer, bytes, strict, wide }) => {
  await strict(
    db.schema
      .createTable("log_runs")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("log_id", text, (column) => column.notNull())
      .addColumn("first_position", integer, (column) => column.notNull())
      .addColumn("last_position", integer, (column) => column.notNull())
      .addColumn("first_ordinal", integer, (column) => column.notNull())
      .addColumn("leaves", bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint("log_runs_key", ["organization_id", "log_id", "first_position"]),
  ).execute();
  // Acts of the operator are few, and everybody is shown them.
  await db.schema
    .createIndex("log_runs_of_operator")
    .on("log_runs")
    .columns(["log_id", "first_position"])
    .where("first_ordinal" as never, "=", 0)
    .execute();
  await wide(
    db.schema
      .createTable("log_entries")
      .addColumn("log_id", text, (column) => column.notNull())
      .addColumn("first_position", integer, (column) => column.notNull())
      .addColumn("organizations", bytes, (column) => column.notNull())
      .addColumn("entries", bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint("log_entries_key", ["log_id", "first_position"]),
  ).execute();
  await wide(
    db.schema
      .createTable("log_tiles")
      .addColumn("log_id", text, (column) => column.notNull())
      .addColumn("level", integer, (column) => column.notNull())
      .addColumn("number", integer, (column) => column.notNull())
      .addColumn("hashes", bytes, (column) => column.notNull())
      .addColumn("root", bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint("log_tiles_key", ["log_id", "level", "number"]),
  ).execute();
  await strict(
    db.schema
      .createTable("logs")
      .addColumn("log_id", text, (column) => column.notNull())
      .addColumn("origin", text, (column) => column.notNull())
      .addColumn("is_open", integer, (column) => column.notNull())
      .addColumn("opened_at_ms", integer, (column) => column.notNull())
      .addColumn("checkpoint_size", integer, (column) => column.notNull())
      .addColumn("checkpoint", text)
      .addColumn("cosignatures", text, (column) => column.notNull())
      .addPrimaryKeyConstraint("logs_key", ["log_id"]),
  ).execute();
};
