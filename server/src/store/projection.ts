/**
 * What the projection tables must show of an organization, worked out anew from its pages and records. A commit writes the same
 * rows from the changes of one activity; here they come from everything at once, for whoever compares or rebuilds them.
 */
import { uuidFromBytes } from "@keystead/core/encoding/uuid.ts";
import type { Header } from "@keystead/core/log/header.ts";
import type { KeyFacts, Settings } from "../state/entities.ts";
import type { KeyRecord } from "../state/records.ts";
import type { NewRecordRow } from "./commit_item.ts";
import { type EntityTableName, tabledKinds, tableOf } from "./entity_tables.ts";
import { columnsOfFacts, toKeyRow } from "./key_rows.ts";
import type { TableName, Tables } from "./tables.ts";

/** The columns of an organization's row that its head and its settings say. */
export function organizationColumns({ parentId, version }: Header, settings: Settings) {
  const { organizationName, createdAtMs, updatedAtMs, deleted } = settings;
  return {
    parent_id: parentId === undefined ? null : uuidFromBytes(parentId),
    organization_name: organizationName,
    version,
    created_at_ms: createdAtMs,
    updated_at_ms: updatedAtMs,
    deleted_at_ms: deleted === true ? updatedAtMs : null,
  } satisfies Partial<Tables["organizations"]>;
}

/** What a key's row is worked out from, beside its record. */
export type KeySources = { facts: KeyFacts | undefined; privateKeyTags: readonly string[]; sortKey: string };

/** The whole row of a key. */
export function keyRowOf(record: KeyRecord, stored: NewRecordRow, sources: KeySources) {
  const { row } = toKeyRow(record, stored, sources.sortKey);
  if ("private_key_tags" in row) row.private_key_tags = JSON.stringify(sources.privateKeyTags);
  return Object.assign(row, sources.facts && columnsOfFacts(sources.facts));
}

/** The names of columns in which two rows differ, in the order of the table. */
export function differingColumns(expected: object, stored: object): string[] {
  const [own, found] = [expected as Row, stored as Row];
  return Object.keys(own).filter((column) => !isSame(own[column], found[column]));
}

type Row = Record<string, unknown>;

function isSame(a: unknown, b: unknown): boolean {
  return a instanceof Uint8Array && b instanceof Uint8Array ? Buffer.compare(a, b) === 0 : a === b;
}

const entityKeys = Object.fromEntries(
  tabledKinds.flatMap((kind) => {
    const { table, id, parts } = tableOf(kind);
    return [[table, [id]], ...(parts === undefined ? [] : [[parts.table, [parts.id]]])];
  }),
) as Record<EntityTableName, readonly string[]>;

/** Each table's primary key, behind the organization where it has one. A test holds it against the database. */
export const rowKeys: Readonly<Record<TableName, readonly string[]>> = {
  organizations: [],
  pages: ["name"],
  leaves: ["boot", "number"],
  disclosures: ["digest"],
  sealed_disclosures: ["digest"],
  unreleased: ["boot", "number"],
  activities: ["activity_id"],
  sealed_bodies: ["activity_id"],
  app_proofs: ["activity_id"],
  decision_contexts: ["digest"],
  votes: ["activity_id", "vote_id"],
  otp_codes: ["otp_id"],
  otp_attempts: ["otp_id", "place"],
  idempotency_keys: ["user_id", "idempotency_key"],
  sign_up_claims: ["identity"],
  contact_claims: ["kind", "contact"],
  refused_bytes: ["user_id", "day"],
  outbox: ["message_id"],
  email_events: ["event_id"],
  wallets: ["wallet_id"],
  wallet_accounts: ["wallet_account_id"],
  private_keys: ["private_key_id"],
  private_key_addresses: ["address_key", "private_key_id"],
  boot_proofs: ["ephemeral_key"],
  loaded_files: ["digest"],
  log_runs: ["log_id", "first_position"],
  log_entries: ["log_id", "first_position"],
  log_tiles: ["log_id", "level", "number"],
  logs: ["log_id"],
  log_statements: ["log_id"],
  deployment: ["id"],
  ...entityKeys,
};
