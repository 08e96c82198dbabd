/** The parts of a group's statement in PostgreSQL that write keys. */
import type { KeyRecordKind } from "../state/records.ts";
import type { KeyRowChange } from "./key_plan.ts";
import { keyTables, privateKeyAddressRows, privateKeyTagRow, tablesOfKeys } from "./key_rows.ts";
import type { OrganizationPlan } from "./organization_plan.ts";
import { deleteRows, rowKeyColumns, type StatementBuilder } from "./postgres_statement.ts";
import { type ColumnKind, type TableName, tables } from "./tables.ts";

/**
 * Wallets, accounts and private keys, in no certain order: where a name passes from one to another, this may violate its
 * uniqueness, and the group is written in smaller parts.
 */
export function addKeys(statement: StatementBuilder, all: readonly OrganizationPlan[]): void {
  const isDeleted = ({ settings }: OrganizationPlan) => settings?.deleted === true;
  deleteAllKeys(statement, all.filter(isDeleted));
  // Parts do not see each other's rows: what the same group would still have written of deleted ones must not be written at all.
  const plans = all.filter((plan) => !isDeleted(plan));
  const changed = plans.flatMap(({ organizationId, keys }) =>
    [...keys.changed.values()].map((change) => ({ organization_id: organizationId, ...change })),
  );
  const kinds = Object.keys(keyTables) as KeyRecordKind[];
  for (const kind of kinds) {
    const { table, id } = keyTables[kind];
    const own = changed.filter((change) => change.kind === kind);
    const gone = own.filter(({ deleted }) => deleted);
    deleteRows(statement, table, id, gone);
    if (kind === "wallet") deleteRows(statement, "wallet_accounts", "wallet_id", gone, "_of_wallets");
    if (kind === "privateKey") deleteRows(statement, "private_key_addresses", "private_key_id", gone);
    changeKeys(
      statement,
      kind,
      own.filter(({ deleted }) => !deleted),
    );
  }
  const keyPlans = plans.map(({ keys }) => keys);
  statement.insert(
    "wallets",
    keyPlans.flatMap(({ wallets }) => [...wallets.values()]),
  );
  statement.insert(
    "wallet_accounts",
    keyPlans.flatMap(({ accounts }) => [...accounts.values()]),
  );
  const privateKeys = keyPlans.flatMap((keys) => [...keys.privateKeys.values()]);
  statement.insert("private_keys", privateKeys);
  statement.insert("private_key_addresses", privateKeys.flatMap(privateKeyAddressRows));
  const tags = plans.flatMap(({ organizationId, keys }) =>
    [...keys.tags].map(([tagId, tag]) => ({ organization_id: organizationId, id: tagId, tag })),
  );
  deleteRows(
    statement,
    "private_key_tags",
    "tag_id",
    tags.filter(({ tag }) => tag === undefined),
  );
  statement.insert(
    "private_key_tags",
    tags.flatMap(({ organization_id, tag }) => (tag === undefined ? [] : privateKeyTagRow(organization_id, tag))),
  );
}

function deleteAllKeys(statement: StatementBuilder, deleted: readonly OrganizationPlan[]): void {
  if (deleted.length === 0) return;
  const rows = deleted.map(({ organizationId }) => ({ organization_id: organizationId }));
  for (const table of tablesOfKeys) {
    statement.part(
      `delete_all_${table}`,
      `delete from ${table} using ${statement.unnest("gone", { organization_id: "text" }, rows)}
        where ${table}.organization_id = gone.organization_id
          and gone.organization_id in (select organization_id from committed)`,
    );
  }
}

function changeKeys(
  statement: StatementBuilder,
  kind: KeyRecordKind,
  changed: readonly (KeyRowChange & { organization_id: string })[],
): void {
  if (changed.length === 0) return;
  const { table, id } = keyTables[kind];
  const columns: Record<string, ColumnKind> = { name_key: "text?", updated_at_ms: "integer" };
  for (const change of changed)
    for (const column of Object.keys(change.columns)) columns[column] ??= kindOf(table, column);
  const rows = changed.map(({ organization_id, id: key, columns }) => ({ organization_id, id: key, ...columns }));
  const assignments = Object.keys(columns).map(
    (column) => `${column} = coalesce(changed.${column}, ${table}.${column})`,
  );
  statement.part(
    `change_${table}_${Object.keys(columns).join("_")}`,
    `update ${table} set ${assignments.join(", ")}
      from ${statement.unnest("changed", { ...rowKeyColumns, ...columns }, rows)}
      where ${table}.organization_id = changed.organization_id and ${table}.${id} = changed.id
        and changed.organization_id in (select organization_id from committed)`,
  );
}

/** As the table declares it, or null where a row says nothing about it. */
function kindOf(table: TableName, column: string): ColumnKind {
  const kind = (tables[table] as Readonly<Record<string, ColumnKind>>)[column] ?? "text";
  return kind.endsWith("?") ? kind : (`${kind}?` as ColumnKind);
}
