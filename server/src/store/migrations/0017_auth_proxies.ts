import type { MigrationStep } from "./step.ts";

/** Auth proxies, found by their ids, and which sign-up was the first with an identity. */
export const authProxies: MigrationStep = async (db, { text, integer, strict }) => {
  await strict(
    db.schema
      .createTable("auth_proxies")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("config_id", text, (column) => column.notNull())
      .addColumn("user_id", text, (column) => column.notNull())
      .addColumn("settings", text, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("auth_proxies_key", ["organization_id", "config_id"]),
  ).execute();
  await db.schema.createIndex("auth_proxies_by_config").on("auth_proxies").column("config_id").execute();
  await strict(
    db.schema
      .createTable("sign_up_claims")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("identity", text, (column) => column.notNull())
      .addColumn("sub_organization_id", text, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("sign_up_claims_key", ["organization_id", "identity"]),
  ).execute();
  await db.schema.createIndex("sign_up_claims_by_age").on("sign_up_claims").column("created_at_ms").execute();
};
