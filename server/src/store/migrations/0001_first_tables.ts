import { sql } from "kysely";
import type { MigrationStep } from "./step.ts";

export const firstTables: MigrationStep = async (db, { text, integer, bytes, strict, wide }) => {
  await strict(
    db.schema
      .createTable("organizations")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("parent_id", text)
      .addColumn("organization_name", text, (column) => column.notNull())
      .addColumn("version", integer, (column) => column.notNull())
      .addColumn("header", bytes, (column) => column.notNull())
      .addColumn("directory", bytes, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("organizations_key", ["organization_id"]),
  ).execute();
  await db.schema
    .createIndex("organizations_by_parent")
    .on("organizations")
    .columns(["parent_id", "organization_id"])
    .execute();

  await strict(
    db.schema
      .createTable("pages")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("name", text, (column) => column.notNull())
      .addColumn("content", bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint("pages_key", ["organization_id", "name"]),
  ).execute();

  await strict(
    db.schema
      .createTable("leaves")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("boot", text, (column) => column.notNull())
      .addColumn("number", integer, (column) => column.notNull())
      .addColumn("version", integer)
      .addColumn("activity_id", text)
      .addColumn("leaf", bytes, (column) => column.notNull())
      .addColumn("header", bytes)
      .addColumn("sealed", bytes)
      .addPrimaryKeyConstraint("leaves_key", ["organization_id", "boot", "number"]),
  ).execute();
  await db.schema
    .createIndex("leaves_by_version")
    .unique()
    .on("leaves")
    .columns(["organization_id", "version"])
    .where("version", "is not", null)
    .execute();
  await strict(
    db.schema
      .createTable("unreleased")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("boot", text, (column) => column.notNull())
      .addColumn("number", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("unreleased_key", ["organization_id", "boot", "number"]),
  ).execute();

  await wide(
    db.schema
      .createTable("activities")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("activity_id", text, (column) => column.notNull())
      .addColumn("fingerprint", text, (column) => column.notNull())
      .addColumn("type", text, (column) => column.notNull())
      .addColumn("status", text, (column) => column.notNull())
      .addColumn("body", bytes, (column) => column.notNull())
      .addColumn("result", text)
      .addColumn("failure", text)
      .addColumn("votes", text, (column) => column.notNull())
      .addColumn("slot", integer)
      .addColumn("state_version", integer)
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("activities_key", ["organization_id", "activity_id"])
      .addUniqueConstraint("activities_by_fingerprint", ["organization_id", "fingerprint"]),
  ).execute();
  await strict(
    db.schema
      .createTable("users")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("user_id", text, (column) => column.notNull())
      .addColumn("user_name", text, (column) => column.notNull())
      .addColumn("user_email", text)
      .addColumn("user_phone_number", text)
      .addColumn("user_tags", text, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("users_key", ["organization_id", "user_id"]),
  ).execute();

  await strict(
    db.schema
      .createTable("credentials")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("credential_id", text, (column) => column.notNull())
      .addColumn("user_id", text, (column) => column.notNull())
      .addColumn("credential_name", text, (column) => column.notNull())
      .addColumn("type", text, (column) => column.notNull())
      .addColumn("curve", text, (column) => column.notNull())
      .addColumn("public_key", text, (column) => column.notNull())
      .addColumn("expires_at_ms", integer)
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("credentials_key", ["organization_id", "credential_id"])
      .addUniqueConstraint("credentials_by_public_key", ["organization_id", "curve", "public_key"]),
  ).execute();
  await db.schema.createIndex("credentials_across").on("credentials").columns(["public_key"]).execute();
  await db.schema
    .createIndex("credentials_by_user")
    .on("credentials")
    .columns(["organization_id", "user_id", "credential_id"])
    .execute();

  await strict(
    db.schema
      .createTable("user_tags")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("tag_id", text, (column) => column.notNull())
      .addColumn("tag_name", text, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("user_tags_key", ["organization_id", "tag_id"]),
  ).execute();

  await strict(
    db.schema
      .createTable("deployment")
      .addColumn("id", integer, (column) => column.notNull())
      .addColumn("keyring", bytes, (column) => column.notNull())
      .addPrimaryKeyConstraint("deployment_key", ["id"])
      .addCheckConstraint("deployment_is_one_row", sql`id = 1`),
  ).execute();
};
