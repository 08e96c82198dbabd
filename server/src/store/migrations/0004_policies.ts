import type { MigrationStep } from "./step.ts";

/** Policies, interfaces of contracts, and what policies said about each vote. */
export const policies: MigrationStep = async (db, { text, integer, bytes, strict }) => {
  await strict(
    db.schema
      .createTable("policies")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("policy_id", text, (column) => column.notNull())
      .addColumn("policy_name", text, (column) => column.notNull())
      .addColumn("effect", text, (column) => column.notNull())
      .addColumn("consensus", text, (column) => column.notNull())
      .addColumn("condition", text, (column) => column.notNull())
      .addColumn("time", text, (column) => column.notNull())
      .addColumn("notes", text, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("policies_key", ["organization_id", "policy_id"]),
  ).execute();
  await db.schema
    .createIndex("policies_in_order")
    .on("policies")
    .columns(["organization_id", "created_at_ms", "policy_id"])
    .execute();

  // No name and no address is unique here: the signer's pages see to that, and one that passes from one row to another
  // within a group must not stand in its own way.
  await strict(
    db.schema
      .createTable("contract_interfaces")
      .addColumn("organization_id", text, (column) => column.notNull())
      .addColumn("interface_id", text, (column) => column.notNull())
      .addColumn("type", text, (column) => column.notNull())
      .addColumn("address", text, (column) => column.notNull())
      .addColumn("label", text, (column) => column.notNull())
      .addColumn("notes", text, (column) => column.notNull())
      .addColumn("record", bytes, (column) => column.notNull())
      .addColumn("created_at_ms", integer, (column) => column.notNull())
      .addColumn("updated_at_ms", integer, (column) => column.notNull())
      .addPrimaryKeyConstraint("contract_interfaces_key", ["organization_id", "interface_id"]),
  ).execute();
  // Texts are long: a list must not have to sort them.
  await db.schema
    .createIndex("contract_interfaces_in_order")
    .on("contract_interfaces")
    .columns(["organization_id", "created_at_ms", "interface_id"])
    .execute();

  // The submission's own vote stands in the activity's row, and so does what was said about it.
  for (const table of ["activities", "votes"]) {
    await db.schema.alterTable(table).addColumn("evaluations", bytes).execute();
    await db.schema.alterTable(table).addColumn("explanation", text).execute();
  }
};
