/**
 * Wallets, accounts and private keys. A row's record says what was made, and carries the signer's MAC; the key facts say what
 * became of it. Everything else in the row follows from these.
 */
import { decodeHeader } from "@keystead/core/log/header.ts";
import { decodeLeaf, type Leaf } from "@keystead/core/log/leaf.ts";
import { withoutMac } from "../state/authenticity.ts";
import { objectId } from "../state/derived_id.ts";
import { decodeRecord, isKeyRecord, type KeyRecord, type KeyRecordKind, recordIdOf } from "../state/records.ts";
import { keyTables, privateKeyAddressRows, sortKey } from "../store/key_rows.ts";
import { differingColumns, keyRowOf } from "../store/projection.ts";
import { deleteRow, type Inside, insertRow, keyOf, rowsOf, rowsWith, updateRow } from "../store/projection_rows.ts";
import type { Tables } from "../store/tables.ts";
import type { Findings } from "./check_findings.ts";
import type { CheckedState } from "./check_state.ts";
import type { Vouching } from "./vouching.ts";

const rowsAtOnce = 200;

type KeyTable = (typeof keyTables)[KeyRecordKind]["table"];
type KeyRow = Tables["wallets"] | Tables["wallet_accounts"] | Tables["private_keys"];

/** Where and how rows are compared. */
type Room = { tx: Inside; vouching: Vouching; state: CheckedState; findings: Findings };

export async function checkKeys(room: Room): Promise<void> {
  const { state, findings } = room;
  const counts = { wallet: 0, walletAccount: 0, privateKey: 0 };
  for (const kind of ["wallet", "walletAccount", "privateKey"] as const) {
    const { live, loosened } = await walk(room, kind);
    counts[kind] = live;
    // Names and places are free by now, so that those of swapped rows do not stand in each other's way.
    if (loosened) await walk({ ...room, findings: settling }, kind);
  }
  await checkStrayAddresses(room);
  const { keyCounts, settings } = state.pages;
  if (settings.deleted === true) return;
  const missing = {
    wallets: keyCounts.wallets - counts.wallet,
    private_keys: keyCounts.privateKeys - counts.privateKey,
  };
  for (const [table, count] of Object.entries(missing)) {
    if (count > 0) findings.lost(`${table}: ${count} of its rows are missing`);
    if (count < 0) findings.lost(`${table}: there are ${-count} rows more than its state counts`);
  }
}

/** The second walk writes what the first has found. */
const settling: Findings = { differs: () => true, lost: () => undefined };

async function walk(room: Room, kind: KeyRecordKind): Promise<{ live: number; loosened: boolean }> {
  const { tx, vouching, state, findings } = room;
  const { table } = keyTables[kind];
  let live = 0;
  let loosened = false;
  for await (const rows of rowsOf(tx, table, state.organizationId, rowsAtOnce)) {
    const verdicts = await vouching.records(rows.map(({ record, sealed }) => ({ content: record, sealed })));
    const sound: KeyRow[] = [];
    for (const [index, row] of (rows as KeyRow[]).entries()) {
      const { own = false, opens = false, blindIndex } = verdicts[index] ?? {};
      const name = `${table} ${keyOf(table, row as never).join(" ")}`;
      const record = own ? decodeRecord(withoutMac(row.record)) : undefined;
      const objection = objectionTo(state, kind, record);
      if (objection !== undefined || record === undefined || !isKeyRecord(record)) {
        findings.lost(`${name}: ${objection}`);
        live += 1;
        continue;
      }
      if (!opens) findings.lost(`${name}: its sealed secret was changed`);
      const expected = await expectedRow(room, record, row, opens ? blindIndex : undefined);
      if (expected === "deleted") {
        if (findings.differs(`${name}: it is deleted in the state`)) await deleteRow(tx, table, row as never);
        continue;
      }
      live += 1;
      sound.push(row);
      if (expected === "unknown") continue;
      loosened = (await compare(room, table, name, expected, row)) || loosened;
    }
    if (kind === "privateKey") await checkAddresses(room, sound as Tables["private_keys"][]);
  }
  return { live, loosened };
}

function objectionTo(
  { organizationId }: CheckedState,
  kind: KeyRecordKind,
  record: ReturnType<typeof decodeRecord> | undefined,
): string | undefined {
  if (record === undefined) return "its record was changed";
  if (record.organizationId !== organizationId) return `it holds a record of organization ${record.organizationId}`;
  return record.kind === kind ? undefined : `it holds a record of a ${record.kind}`;
}

/** True when the row was loosened: its final form is written once all others are loosened too. */
async function compare(
  { tx, findings }: Room,
  table: KeyTable,
  name: string,
  expected: KeyRow,
  row: KeyRow,
): Promise<boolean> {
  const columns = differingColumns(expected, row);
  // It was put under its own id a moment ago, ahead of the walk.
  if (findings !== settling && row.name_key?.startsWith("~") === true) return true;
  if (columns.length === 0 || !findings.differs(`${name}: ${columns.join(", ")} not as in its record`)) return false;
  if (findings === settling) {
    await updateRow(tx, table, row as never, expected as never);
    return false;
  }
  const [id] = keyOf(table, row as never);
  if (columns.includes(keyTables[kindOf(table)].id)) {
    const [ownId] = keyOf(table, expected as never);
    const others = await rowsWith(tx, table, row.organization_id, keyTables[kindOf(table)].id as never, [ownId ?? ""]);
    await deleteRow(tx, table, row as never);
    if (others.length > 0) return false;
    await insertRow(tx, table, { ...expected, ...loose(table, String(ownId)) } as never);
    return true;
  }
  await updateRow(tx, table, row as never, loose(table, String(id)) as never);
  return true;
}

/** Values that no other row has, for the columns in which no two may be equal. */
function loose(table: KeyTable, id: string): Partial<KeyRow> {
  const name = { name_key: `~${id}` };
  return table === "wallet_accounts" ? { ...name, path_key: `~${id}` } : { ...name, blind_index: null };
}

function kindOf(table: KeyTable): KeyRecordKind {
  const [kind] = Object.entries(keyTables).find(([, each]) => each.table === table) ?? [];
  return kind as KeyRecordKind;
}

async function expectedRow(
  room: Room,
  record: KeyRecord,
  row: KeyRow,
  blindIndex: string | undefined,
): Promise<KeyRow | "deleted" | "unknown"> {
  const { factsOf, pages } = room.state;
  const id = recordIdOf(record);
  const facts = await factsOf(id);
  const walletFacts = record.kind === "walletAccount" ? await factsOf(record.walletId) : undefined;
  if (facts === "unknown" || walletFacts === "unknown") return "unknown";
  if (pages.settings.deleted || facts?.deleted || walletFacts?.deleted) return "deleted";
  const index = blindIndex ?? ("blind_index" in row ? (row.blind_index ?? undefined) : undefined);
  const expected = keyRowOf(
    record,
    { content: row.record, sealed: row.sealed, blindIndex: index },
    {
      facts,
      privateKeyTags: pages.privateKeyTags.keys.get(id) ?? [],
      sortKey: "sort_key" in row ? await placeOf(room, record, row.sort_key) : "",
    },
  );
  // No page says when a key was last tagged: any time since is as good.
  if (record.kind === "privateKey" && row.updated_at_ms > expected.updated_at_ms) {
    expected.updated_at_ms = row.updated_at_ms;
  }
  return expected;
}

/** More than an activity can make. */
const maxObjects = 2_000;

/**
 * Where a record stands in lists: behind the version that it came with, and at its place among those that came with it. Both
 * follow from its id, which derives from the body that made it.
 */
async function placeOf({ tx, state }: Room, record: KeyRecord, stored: string): Promise<string> {
  const version = /^\d{15}\.\d{4}$/.test(stored) ? Number(stored.slice(0, 15)) : 0;
  for (const { leaf } of await rowsWith(tx, "leaves", state.organizationId, "version", [version])) {
    const place = placeIn(leaf, state, record, stored);
    if (place !== undefined) return place;
  }
  for await (const rows of rowsOf(tx, "leaves", state.organizationId, rowsAtOnce)) {
    for (const { leaf } of rows) {
      const place = placeIn(leaf, state, record, stored);
      if (place !== undefined) return place;
    }
  }
  return stored;
}

function placeIn(marked: Uint8Array, { header }: CheckedState, record: KeyRecord, stored: string): string | undefined {
  const leaf = readLeaf(marked);
  if (leaf?.header === undefined || leaf.timeMs !== record.createdAtMs) return undefined;
  // The ids of what is born with an organization derive from its creator's.
  const maker = leaf.event === "BIRTH" ? header.parentId : header.organizationId;
  const place = maker && indexOf(maker, leaf, recordIdOf(record));
  if (maker === undefined || place === undefined) return undefined;
  const { version } = decodeHeader(withoutMac(leaf.header));
  const wallet = record.kind === "walletAccount" ? indexOf(maker, leaf, record.walletId) : undefined;
  // Users and their keys come before: which of the records was the first is not told.
  if (leaf.event === "BIRTH" && wallet === undefined && stored.startsWith(sortKey(version, 0).slice(0, 15)))
    return stored;
  return sortKey(version, place - (wallet ?? 0));
}

function indexOf(maker: Uint8Array, { fingerprint }: Leaf, id: string): number | undefined {
  for (let index = 0; index < maxObjects; index++) if (objectId(maker, fingerprint, index) === id) return index;
  return undefined;
}

function readLeaf(marked: Uint8Array): Leaf | undefined {
  try {
    return decodeLeaf(withoutMac(marked));
  } catch {
    return undefined;
  }
}

/** The addresses that a private key is found by. */
async function checkAddresses({ tx, state, findings }: Room, rows: readonly Tables["private_keys"][]): Promise<void> {
  const { organizationId } = state;
  const expected = rows.flatMap((row) => addressesIn(row));
  // By the ids of the records: a row may stand under another's.
  const ids = [...new Set(expected.map(({ private_key_id }) => private_key_id))];
  const stored = await rowsWith(tx, "private_key_addresses", organizationId, "private_key_id", ids);
  const missing = new Map(expected.map((row) => [nameOfAddress(row), row]));
  for (const row of stored) {
    const name = nameOfAddress(row);
    if (missing.delete(name)) continue;
    if (findings.differs(`${name}: it is no address of this key`)) await deleteRow(tx, "private_key_addresses", row);
  }
  for (const [name, row] of missing) {
    if (findings.differs(`${name}: it is missing`)) await insertRow(tx, "private_key_addresses", row);
  }
}

/** Those of the record, which are the key's own whatever became of the column. */
function addressesIn(row: Tables["private_keys"]): Tables["private_key_addresses"][] {
  try {
    const record = decodeRecord(withoutMac(row.record));
    if (record.kind !== "privateKey" || record.organizationId !== row.organization_id) return [];
    return privateKeyAddressRows({
      ...row,
      private_key_id: record.privateKeyId,
      addresses: JSON.stringify(record.addresses),
    });
  } catch {
    return [];
  }
}

function nameOfAddress({ address_key, private_key_id }: Tables["private_key_addresses"]): string {
  return `private_key_addresses ${address_key} ${private_key_id}`;
}

async function checkStrayAddresses({ tx, state, findings }: Room): Promise<void> {
  for await (const rows of rowsOf(tx, "private_key_addresses", state.organizationId, rowsAtOnce)) {
    const ids = [...new Set(rows.map(({ private_key_id }) => private_key_id))];
    const found = await rowsWith(tx, "private_keys", state.organizationId, "private_key_id", ids);
    for (const row of rows) {
      if (found.some(({ private_key_id }) => private_key_id === row.private_key_id)) continue;
      if (findings.differs(`${nameOfAddress(row)}: there is no such key`)) {
        await deleteRow(tx, "private_key_addresses", row);
      }
    }
  }
}
