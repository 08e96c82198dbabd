import { sql } from "kysely";
import type { MigrationStep } from "./step.ts";

/** What became of mail, for `list_email_events`: one row for each event, by the recipient's address. */
export const emailEvents: MigrationStep = async (db, { text, integer, strict }) => {
  await db.schema.alterTable("outbox").addColumn("to_address", text).execute();
  await db.schema.alterTable("outbox").addColumn("from_address", text).execute();
  await strict(
    db.schema
      .createTable("email_events")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("event_id", text, (column) => column.notNull())
      .addColumn("message_id", text, (column) => column.notNull())
      .addColumn("event_type", text, (column) => column.notNull())
      .addColumn("to_address", text, (column) => column.notNull())
      .addColumn("from_address", text)
      .addColumn("error", text)
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("email_events_key", ["organization_id", "event_id"]),
  ).execute();
  // A message that is tried again is delayed once, and one that is sent twice was sent.
  await db.schema
    .createIndex("email_events_once")
    .unique()
    .on("email_events")
    .columns(["organization_id", "message_id", "event_type"])
    .execute();
  await db.schema
    .createIndex("email_events_by_recipient")
    .on("email_events")
    .column("organization_id")
    .expression(sql`lower(to_address)`)
    .column("event_id")
    .execute();
  await db.schema.createIndex("email_events_by_age").on("email_events").column("created_at_ms").execute();
};
