/** Wallets, accounts and private keys as rows: from the signer's records, and from what changes them later. */
import { Fault } from "@keystead/core/fault.ts";
import { addressKey } from "@keystead/core/keys/address_spelling.ts";
import { pathKey } from "@keystead/core/keys/path.ts";
import { foldName } from "../fields/names.ts";
import { withoutMac } from "../state/authenticity.ts";
import type { KeyFacts, TaggedPrivateKeys } from "../state/entities.ts";
import { decodeRecord, isKeyRecord, type KeyRecord, type KeyRecordKind } from "../state/records.ts";
import { fromPlaces } from "../state/tag_places.ts";
import type { NewRecordRow } from "./commit_item.ts";
import type { NewText } from "./entity_plan.ts";
import type { KeyPlan, KeyRowChange, NewKeyRow } from "./key_plan.ts";
import type { Tables } from "./tables.ts";

/** Records that come with a version of their organization: the rows of keys, and texts that come with entities. */
export type ReadRecords = { keyRows: NewKeyRow[]; texts: NewText[] };

export function readRecords(organizationId: string, version: number, records: readonly NewRecordRow[]): ReadRecords {
  const read: ReadRecords = { keyRows: [], texts: [] };
  for (const [position, row] of records.entries()) {
    const record = decodeRecord(withoutMac(row.content));
    if (record.organizationId !== organizationId) throw new Fault("internal", "a record of another organization");
    if (isKeyRecord(record)) read.keyRows.push(toKeyRow(record, row, sortKey(version, position)));
    else if (record.kind === "otpCode") throw new Fault("internal", "a code is no key and no text");
    else read.texts.push({ record, content: row.content });
  }
  return read;
}

export function toKeyRow(record: KeyRecord, row: NewRecordRow, sort_key: string): NewKeyRow {
  const { kind, organizationId, createdAtMs } = record;
  const times = { created_at_ms: createdAtMs, updated_at_ms: createdAtMs };
  const common = { organization_id: organizationId, record: row.content, sealed: row.sealed, ...times };
  if (kind === "wallet") {
    const wallet = {
      ...common,
      wallet_id: record.walletId,
      wallet_name: record.walletName,
      name_key: foldName(record.walletName),
      blind_index: row.blindIndex ?? null,
      exported: 0,
      imported: Number(record.imported),
    };
    return { kind, id: record.walletId, row: wallet };
  }
  if (kind === "walletAccount") {
    const account = {
      ...common,
      wallet_account_id: record.walletAccountId,
      wallet_id: record.walletId,
      curve: record.curve,
      path: record.path,
      path_key: pathKey(record.curve, record.path),
      address_format: record.addressFormat,
      address: record.address,
      address_key: addressKey(record.address),
      public_key: record.publicKey,
      account_name: record.name ?? null,
      name_key: record.name === undefined ? null : foldName(record.name),
      sort_key,
    };
    return { kind, id: record.walletAccountId, row: account };
  }
  const privateKey = {
    ...common,
    private_key_id: record.privateKeyId,
    private_key_name: record.privateKeyName,
    name_key: foldName(record.privateKeyName),
    curve: record.curve,
    public_key: record.publicKey,
    addresses: JSON.stringify(record.addresses),
    private_key_tags: "[]",
    sort_key,
    blind_index: row.blindIndex ?? null,
    exported: 0,
    imported: Number(record.imported),
  };
  return { kind, id: record.privateKeyId, row: privateKey };
}

/** Each once in an organization, in the order of time and of asking: clients take the first account for the one they named first. */
export function sortKey(version: number, position: number): string {
  return `${String(version).padStart(15, "0")}.${String(position).padStart(4, "0")}`;
}

export function addKeyRow(plan: KeyPlan, { kind, id, row }: NewKeyRow): void {
  if (kind === "wallet") plan.wallets.set(id, row);
  else if (kind === "walletAccount") plan.accounts.set(id, row);
  else plan.privateKeys.set(id, row);
}

/** A row that is new in this group takes the change at once; any other is changed where it lies. */
export function addKeyFacts(plan: KeyPlan, facts: KeyFacts): void {
  const { id, kind } = facts;
  if (facts.deleted !== true) {
    changeRow(plan, kind, id, columnsOfFacts(facts));
    return;
  }
  rowsOf(plan, kind).delete(id);
  if (kind === "wallet") {
    for (const [accountId, account] of plan.accounts) if (account.wallet_id === id) plan.accounts.delete(accountId);
  }
  plan.changed.set(id, { id, kind, deleted: true, columns: {} });
}

export function addTaggedPrivateKeys(plan: KeyPlan, { tagIds, keys, updatedAtMs }: TaggedPrivateKeys): void {
  for (const [privateKeyId, own] of fromPlaces(tagIds, keys)) {
    const columns = { private_key_tags: JSON.stringify(own), updated_at_ms: updatedAtMs };
    changeRow(plan, "privateKey", privateKeyId, columns);
  }
}

/** One change per row, because one statement of PostgreSQL changes a row only once. */
function changeRow(plan: KeyPlan, kind: KeyRecordKind, id: string, columns: KeyRowChange["columns"]): void {
  const row = rowsOf(plan, kind).get(id);
  const earlier = plan.changed.get(id);
  if (row !== undefined) Object.assign(row, columns);
  else if (earlier === undefined) plan.changed.set(id, { id, kind, deleted: false, columns });
  else plan.changed.set(id, { ...earlier, columns: { ...earlier.columns, ...columns } });
}

function rowsOf(plan: KeyPlan, kind: KeyRecordKind): Map<string, object> {
  return { wallet: plan.wallets, walletAccount: plan.accounts, privateKey: plan.privateKeys }[kind];
}

/** The columns that facts speak about. */
export function columnsOfFacts({ kind, name, exported, updatedAtMs }: KeyFacts): KeyRowChange["columns"] {
  const nameColumn = nameColumns[kind];
  return {
    ...(name !== undefined && { [nameColumn]: name, name_key: foldName(name) }),
    ...(exported === true && kind !== "walletAccount" && { exported: 1 }),
    updated_at_ms: updatedAtMs,
  };
}

const nameColumns = {
  wallet: "wallet_name",
  walletAccount: "account_name",
  privateKey: "private_key_name",
} as const satisfies Record<KeyRecordKind, string>;

/** Where each kind lies, and by which column. */
export const keyTables = {
  wallet: { table: "wallets", id: "wallet_id" },
  walletAccount: { table: "wallet_accounts", id: "wallet_account_id" },
  privateKey: { table: "private_keys", id: "private_key_id" },
} as const satisfies Record<KeyRecordKind, { table: keyof Tables; id: string }>;

/** All that an organization's keys lie in, their sealed secrets among it. It goes when the organization does. */
export const tablesOfKeys = ["wallets", "wallet_accounts", "private_keys", "private_key_addresses"] as const;

/** Every address of a private key, as it is looked up. One address in two formats is one row. */
export function privateKeyAddressRows(row: Tables["private_keys"]): Tables["private_key_addresses"][] {
  const addresses = JSON.parse(row.addresses) as { address: string }[];
  const keys = new Set(addresses.map(({ address }) => addressKey(address)));
  return [...keys].map((address_key) => ({
    organization_id: row.organization_id,
    address_key,
    private_key_id: row.private_key_id,
  }));
}

/** For readers: the record behind a key's row, as it was made. */
export function recordOf(row: { record: Uint8Array }): KeyRecord {
  const record = decodeRecord(withoutMac(row.record));
  if (!isKeyRecord(record)) throw new Fault("internal", "the record of a key is another's");
  return record;
}
