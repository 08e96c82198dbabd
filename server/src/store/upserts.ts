/** How rows enter each table: the columns in the declared order, and what happens when the key exists. */
import { finalStatuses } from "./final_statuses.ts";
import { idempotencyMs } from "./idempotency_keys.ts";
import { type TableName, tables } from "./tables.ts";

export function columnsOf(table: TableName): string[] {
  return Object.keys(tables[table]);
}

function replacing(table: TableName, key: readonly string[]): string {
  const others = columnsOf(table).filter((column) => !key.includes(column));
  const assignments = others.map((column) => `${column} = excluded.${column}`);
  return `on conflict (${key.join(", ")}) do update set ${assignments.join(", ")}`;
}

/**
 * Tables that are missing here only grow: a second row of the same key is an error, and with it the organization's items.
 * An activity may replace one that waited for consensus. Over a finished one its status becomes null, which the
 * column refuses: unlike a condition on the update, that takes everything else back too. An idempotency key alike: it may
 * be used anew once its day is over.
 */
export const onConflict: { readonly [T in TableName]?: string } = {
  pages: replacing("pages", ["organization_id", "name"]),
  users: replacing("users", ["organization_id", "user_id"]),
  user_tags: replacing("user_tags", ["organization_id", "tag_id"]),
  private_key_tags: replacing("private_key_tags", ["organization_id", "tag_id"]),
  policies: replacing("policies", ["organization_id", "policy_id"]),
  credentials: replacing("credentials", ["organization_id", "credential_id"]),
  activities: `on conflict (organization_id, activity_id) do update set
    status = case when activities.status in (${finalStatuses.map((status) => `'${status}'`).join(", ")})
      then null else excluded.status end,
    result = excluded.result, failure = excluded.failure, slot = excluded.slot,
    state_version = excluded.state_version, updated_at_ms = excluded.updated_at_ms`,
  idempotency_keys: `on conflict (organization_id, user_id, idempotency_key) do update set
    request = case when idempotency_keys.created_at_ms > excluded.created_at_ms - ${idempotencyMs}
      then null else excluded.request end,
    fingerprint = excluded.fingerprint, created_at_ms = excluded.created_at_ms`,
  refused_bytes: `on conflict (organization_id, user_id, day) do update set
    bytes = refused_bytes.bytes + excluded.bytes`,
};
