import { sql } from "kysely";
import type { MigrationStep } from "./step.ts";

/** Messages that activities asked to be sent. */
export const outbox: MigrationStep = async (db, { text, integer, bytes, wide }) => {
  await wide(
    db.schema
      .createTable("outbox")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("message_id", text, (column) => column.notNull())
      .addColumn("activity_id", text, (column) => column.notNull())
      .addColumn("channel", text, (column) => column.notNull())
      .addColumn("sealed", bytes)
      .addColumn("state", text, (column) => column.notNull())
      .addColumn("attempts", integer, (column) => column.notNull())
      .addColumn("next_attempt_at_ms", integer, (column) => column.notNull())
      .addColumn("claimed_by", text)
      .addColumn("error", text)
      .addColumn("expires_at_ms", integer, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("outbox_key", ["organization_id", "message_id"]),
  ).execute();
  // What is due next, whoever's it is. Those that are over are many, and not in it.
  await db.schema
    .createIndex("outbox_due")
    .on("outbox")
    .column("next_attempt_at_ms")
    .where(sql.ref("state"), "=", sql.lit("PENDING"))
    .execute();
  await db.schema.createIndex("outbox_by_age").on("outbox").column("created_at_ms").execute();
};
