/** How rows enter each table: the columns in the declared order, and what happens when the key exists. */
import { tabledKinds, tableOf } from "./entity_tables.ts";
import { finalStatuses } from "./final_statuses.ts";
import { idempotencyMs } from "./idempotency_keys.ts";
import { type TableName, tables } from "./tables.ts";

export function columnsOf(table: TableName): string[] {
  return Object.keys(tables[table]);
}

/** Parts are replaced like their owners, but an owner changes far more often than its parts do. */
function replacingEntities(): { [T in TableName]?: string } {
  const clauses: { [T in TableName]?: string } = {};
  for (const kind of tabledKinds) {
    const { table, id, clash, parts } = tableOf(kind);
    if (clash === "replace") clauses[table] = replacing(table, ["organization_id", id]);
    if (parts !== undefined) clauses[parts.table] = replacingChanged(parts.table, ["organization_id", parts.id]);
  }
  return clauses;
}

function replacing(table: TableName, key: readonly string[]): string {
  const assignments = othersOf(table, key).map((column) => `${column} = excluded.${column}`);
  return `on conflict (${key.join(", ")}) do update set ${assignments.join(", ")}`;
}

/** A row that is there as it is to be costs no write to it and its indexes. */
function replacingChanged(table: TableName, key: readonly string[]): string {
  const rowOf = (source: string) => `(${othersOf(table, key).map((column) => `${source}.${column}`)})`;
  return `${replacing(table, key)} where ${rowOf(table)} is distinct from ${rowOf("excluded")}`;
}

function othersOf(table: TableName, key: readonly string[]): string[] {
  return columnsOf(table).filter((column) => !key.includes(column));
}

/**
 * Tables that are missing here only grow: a second row of the same key is an error, and with it the organization's items.
 * An activity may replace one that waited for consensus. Over a finished one its status becomes null, which the
 * column refuses: unlike a condition on the update, that takes everything else back too. An idempotency key alike: it may
 * be used anew once its day is over.
 */
export const onConflict: { readonly [T in TableName]?: string } = {
  ...replacingEntities(),
  pages: replacing("pages", ["organization_id", "name"]),
  // After a commit whose end nobody heard of, the same places come again, perhaps with more behind them.
  log_runs: replacing("log_runs", ["organization_id", "log_id", "first_position"]),
  log_entries: replacing("log_entries", ["log_id", "first_position"]),
  activities: `on conflict (organization_id, activity_id) do update set
    status = case when activities.status in (${finalStatuses.map((status) => `'${status}'`).join(", ")})
      then null else excluded.status end,
    result = excluded.result, failure = excluded.failure, slot = excluded.slot,
    state_version = excluded.state_version, updated_at_ms = excluded.updated_at_ms`,
  // The same bytes are the same row.
  disclosures: "on conflict (organization_id, digest) do nothing",
  // A token that several stamps came with: any of its boxes will do.
  sealed_disclosures: "on conflict (organization_id, digest) do nothing",
  idempotency_keys: `on conflict (organization_id, user_id, idempotency_key) do update set
    request = case when idempotency_keys.created_at_ms > excluded.created_at_ms - ${idempotencyMs}
      then null else excluded.request end,
    fingerprint = excluded.fingerprint, created_at_ms = excluded.created_at_ms`,
  // The same bytes: their digest is the key.
  decision_contexts: "on conflict (organization_id, digest) do nothing",
  // Another user's claim stays, which the column refuses to be taken from: everything else is taken back, too.
  contact_claims: `on conflict (organization_id, kind, contact) do update set
    sub_organization_id = case
      when contact_claims.sub_organization_id = excluded.sub_organization_id
        and contact_claims.user_id = excluded.user_id then excluded.sub_organization_id
      when contact_claims.proof = 'EARLIER' and excluded.proof = 'KEY' then excluded.sub_organization_id
      else null end,
    user_id = excluded.user_id, proof = excluded.proof, created_at_ms = excluded.created_at_ms`,
  refused_bytes: `on conflict (organization_id, user_id, day) do update set
    bytes = refused_bytes.bytes + excluded.bytes`,
  loaded_files: "on conflict (organization_id, digest) do nothing",
};
