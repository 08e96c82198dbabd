import type { MigrationStep } from "./step.ts";

/** Wallets, their accounts, private keys and their tags. */
export const keys: MigrationStep = async (db, { text, integer, bytes, strict }) => {
  await strict(
    db.schema
      .createTable("wallets")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("wallet_id", text, (column) => column.notNull())
      .addColumn("wallet_name", text, (column) => column.notNull())
      .addColumn("name_key", text, (column) => column.notNull())
      .addColumn("blind_index", text)
      .addColumn("record", bytes, (column) => column.notNull())
      .addColumn("sealed", bytes, (column) => column.notNull())
      .addColumn("exported", integer, (column) => column.notNull())
      .addColumn("imported", integer, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("wallets_key", ["organization_id", "wallet_id"])
      .addUniqueConstraint("wallets_name", ["organization_id", "name_key"])
      .addUniqueConstraint("wallets_secret", ["organization_id", "blind_index"]),
  ).execute();

  await strict(
    db.schema
      .createTable("wallet_accounts")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("wallet_account_id", text, (column) => column.notNull())
      .addColumn("wallet_id", text, (column) => column.notNull())
      .addColumn("curve", text, (column) => column.notNull())
      .addColumn("path", text, (column) => column.notNull())
      .addColumn("path_key", text, (column) => column.notNull())
      .addColumn("address_format", text, (column) => column.notNull())
      .addColumn("address", text, (column) => column.notNull())
      .addColumn("address_key", text, (column) => column.notNull())
      .addColumn("public_key", text, (column) => column.notNull())
      .addColumn("account_name", text)
      .addColumn("name_key", text)
      .addColumn("sort_key", text, (column) => column.notNull())
      .addColumn("record", bytes, (column) => column.notNull())
      .addColumn("sealed", bytes, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("wallet_accounts_key", ["organization_id", "wallet_account_id"])
      .addUniqueConstraint("wallet_accounts_place", [
        "organization_id",
        "wallet_id",
        "path_key",
        "curve",
        "address_format",
      ])
      .addUniqueConstraint("wallet_accounts_name", ["organization_id", "name_key"]),
  ).execute();
  // Pages of the accounts of one wallet, and of all.
  await db.schema
    .createIndex("wallet_accounts_of_wallet")
    .on("wallet_accounts")
    .columns(["organization_id", "wallet_id", "sort_key"])
    .execute();
  await db.schema
    .createIndex("wallet_accounts_in_order")
    .on("wallet_accounts")
    .columns(["organization_id", "sort_key"])
    .execute();
  // From an address to its account, within an organization and, for list_suborgs, across a parent's.
  await db.schema
    .createIndex("wallet_accounts_by_address")
    .on("wallet_accounts")
    .columns(["address_key", "organization_id"])
    .execute();

  await strict(
    db.schema
      .createTable("private_keys")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("private_key_id", text, (column) => column.notNull())
      .addColumn("private_key_name", text, (column) => column.notNull())
      .addColumn("name_key", text, (column) => column.notNull())
      .addColumn("curve", text, (column) => column.notNull())
      .addColumn("public_key", text, (column) => column.notNull())
      .addColumn("addresses", text, (column) => column.notNull())
      .addColumn("private_key_tags", text, (column) => column.notNull())
      .addColumn("sort_key", text, (column) => column.notNull())
      .addColumn("blind_index", text)
      .addColumn("record", bytes, (column) => column.notNull())
      .addColumn("sealed", bytes, (column) => column.notNull())
      .addColumn("exported", integer, (column) => column.notNull())
      .addColumn("imported", integer, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("private_keys_key", ["organization_id", "private_key_id"])
      .addUniqueConstraint("private_keys_name", ["organization_id", "name_key"])
      .addUniqueConstraint("private_keys_secret", ["organization_id", "blind_index"]),
  ).execute();
  await db.schema
    .createIndex("private_keys_in_order")
    .on("private_keys")
    .columns(["organization_id", "sort_key"])
    .execute();

  await strict(
    db.schema
      .createTable("private_key_addresses")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("address_key", text, (column) => column.notNull())
      .addColumn("private_key_id", text, (column) => column.notNull())
      .addPrimaryKeyConstraint("private_key_addresses_key", ["organization_id", "address_key", "private_key_id"]),
  ).execute();
  // A deleted key takes its addresses with it.
  await db.schema
    .createIndex("private_key_addresses_of_key")
    .on("private_key_addresses")
    .columns(["organization_id", "private_key_id"])
    .execute();

  await strict(
    db.schema
      .createTable("private_key_tags")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("tag_id", text, (column) => column.notNull())
      .addColumn("tag_name", text, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("private_key_tags_key", ["organization_id", "tag_id"]),
  ).execute();
};
