import type { MigrationStep } from "./step.ts";

/** Statements about a log that one host asks of another: only the signer whose log it is can sign them. */
export const logStatements: MigrationStep = async (db, { text, integer, strict }) => {
  await strict(
    db.schema
      .createTable("log_statements")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("log_id", text, (column) => column.notNull())
      .addColumn("ask", text, (column) => column.notNull())
      .addColumn("is_asked", integer, (column) => column.notNull())
      .addColumn("statement", text)
      .addColumn("logs", text)
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("log_statements_key", ["organization_id", "log_id"]),
  ).execute();
  await db.schema
    .createIndex("log_statements_asked")
    .on("log_statements")
    .columns(["log_id", "created_at_ms"])
    .where("is_asked" as never, "=", 1)
    .execute();
  await db.schema.createIndex("log_statements_by_age").on("log_statements").column("created_at_ms").execute();
};
