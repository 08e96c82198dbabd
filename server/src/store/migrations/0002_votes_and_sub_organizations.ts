import { sql } from "kysely";
import type { MigrationStep } from "./step.ts";

export const votesAndSubOrganizations: MigrationStep = async (db, { text, integer, strict, unsorted }) => {
  await strict(
    db.schema
      .createTable("votes")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("activity_id", text, (column) => column.notNull())
      .addColumn("vote_id", text, (column) => column.notNull())
      .addColumn("vote", text, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("votes_key", ["organization_id", "activity_id", "vote_id"]),
  ).execute();

  await strict(
    db.schema
      .createTable("idempotency_keys")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("user_id", text, (column) => column.notNull())
      .addColumn("idempotency_key", text, (column) => column.notNull())
      .addColumn("request", text, (column) => column.notNull())
      .addColumn("fingerprint", text, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("idempotency_keys_key", ["organization_id", "user_id", "idempotency_key"]),
  ).execute();

  await db.schema.createIndex("idempotency_keys_by_age").on("idempotency_keys").column("created_at_ms").execute();

  await db.schema.alterTable("organizations").addColumn("deleted_at_ms", integer).execute();
  // Lists of sub-organizations show only those that are left.
  await db.schema.dropIndex("organizations_by_parent").execute();
  await db.schema
    .createIndex("organizations_by_parent")
    .on("organizations")
    .columns(["parent_id", "organization_id"])
    .where(sql.ref("deleted_at_ms"), "is", null)
    .execute();
  // The filters of list_suborgs: from a value to the organizations that hold it, in the order of its pages.
  await db.schema
    .createIndex("organizations_across_name")
    .on("organizations")
    .columns(["organization_name", "organization_id", "parent_id"])
    .where(sql.ref("deleted_at_ms"), "is", null)
    .execute();
  await db.schema.createIndex("users_across_name").on("users").columns(["user_name", "organization_id"]).execute();
  await db.schema
    .createIndex("users_across_email")
    .on("users")
    .expression(sql`lower(user_email)`)
    .column("organization_id")
    .where(sql.ref("user_email"), "is not", null)
    .execute();
  await db.schema
    .createIndex("users_across_phone_number")
    .on("users")
    .columns(["user_phone_number", "organization_id"])
    .where(sql.ref("user_phone_number"), "is not", null)
    .execute();
  await db.schema.dropIndex("credentials_across").execute();
  await db.schema
    .createIndex("credentials_across")
    .on("credentials")
    .columns(["public_key", "organization_id"])
    .execute();
  await db.schema
    .createIndex("credentials_across_id")
    .on("credentials")
    .columns(["credential_id", "organization_id"])
    .execute();

  // The filters of list_activities. Nearly all activities are completed, so an index of the others is small.
  await db.schema
    .createIndex("activities_by_status")
    .on("activities")
    .columns(["organization_id", "status", "activity_id", "type"])
    .where(sql`status`, "<>", sql.lit("ACTIVITY_STATUS_COMPLETED"))
    .execute();
  await db.schema
    .createIndex("activities_by_type")
    .on("activities")
    .columns(["organization_id", "type", "activity_id", "status"])
    .execute();
  // A parent may ask for an activity of a sub-organization by its id alone.
  await unsorted(db.schema.createIndex("activities_across").on("activities").column("activity_id")).execute();
};
