/**
 * Wallets, accounts and private keys. A row's record says what was made, and carries the signer's MAC; the key facts say what
 * became of it. Everything else in the row follows from these.
 */
import { randomUUID } from "node:crypto";
import { withoutMac } from "../../state/authenticity.ts";
import { decodeRecord, isKeyRecord, type KeyRecord, type KeyRecordKind, recordIdOf } from "../../state/records.ts";
import { keyTables, privateKeyAddressRows } from "../../store/key_rows.ts";
import { differingColumns, keyRowOf } from "../../store/projection.ts";
import { deleteRow, type Inside, insertRow, keyOf, rowsOf, rowsWith, updateRow } from "../../store/projection_rows.ts";
import type { Tables } from "../../store/tables.ts";
import type { Findings } from "./check_findings.ts";
import { placeOf } from "./check_places.ts";
import type { CheckedState } from "./check_state.ts";
import type { Vouching } from "./vouching.ts";

const rowsAtOnce = 200;

type KeyTable = (typeof keyTables)[KeyRecordKind]["table"];
type KeyRow = Tables["wallets"] | Tables["wallet_accounts"] | Tables["private_keys"];

/** Where and how rows are compared. */
type KeyCheck = { tx: Inside; vouching: Vouching; state: CheckedState; findings: Findings };

export async function checkKeys(check: KeyCheck): Promise<void> {
  const { state, findings } = check;
  const counts = { wallet: 0, walletAccount: 0, privateKey: 0 };
  for (const kind of ["wallet", "walletAccount", "privateKey"] as const) {
    const { live, loosened } = await walk(check, kind);
    // Names and places are free by now, so that those of swapped rows do not stand in each other's way.
    const copies = loosened.size > 0 ? await settle(check, kind, loosened) : 0;
    counts[kind] = live - copies;
  }
  await checkStrayAddresses(check);
  const { keyCounts, settings } = state.pages;
  if (settings.deleted === true) return;
  const missing = {
    wallets: keyCounts.wallets - counts.wallet,
    private_keys: keyCounts.privateKeys - counts.privateKey,
  };
  for (const [table, count] of Object.entries(missing)) {
    if (count > 0) findings.lost(`${table}: ${count} row(s) are missing`);
    if (count < 0) findings.lost(`${table}: there are ${-count} row(s) more than its state counts`);
  }
}

/** A row whose record is this organization's own, and what it should be. */
type Sound = { row: KeyRow; name: string; opens: boolean; expected: KeyRow | "deleted" | "unknown" };
type Judged = Sound | { name: string; objection: string };

async function* judgedRows(check: KeyCheck, kind: KeyRecordKind): AsyncGenerator<Judged[]> {
  const { table } = keyTables[kind];
  for await (const rows of rowsOf(check.tx, table, check.state.organizationId, rowsAtOnce)) {
    yield await judge(check, kind, rows);
  }
}

async function judge(check: KeyCheck, kind: KeyRecordKind, rows: readonly KeyRow[]): Promise<Judged[]> {
  const verdicts = await check.vouching.records(rows.map(({ record, sealed }) => ({ content: record, sealed })));
  const judged: Judged[] = [];
  for (const [index, row] of rows.entries()) {
    const { own = false, opens = false, blindIndex } = verdicts[index] ?? {};
    const name = `${keyTables[kind].table} ${idOf(kind, row)}`;
    const record = own ? decodeRecord(withoutMac(row.record)) : undefined;
    const objection = objectionTo(check.state, kind, record);
    if (objection !== undefined || record === undefined || !isKeyRecord(record)) {
      judged.push({ name, objection: objection ?? "its record was changed" });
      continue;
    }
    judged.push({ row, name, opens, expected: await expectedRow(check, record, row, opens ? blindIndex : undefined) });
  }
  return judged;
}

function idOf(kind: KeyRecordKind, row: KeyRow): string {
  return keyOf(keyTables[kind].table, row as never).join(" ");
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

/**
 * Rows that were loosened, by the ids that they now stand under, each with the index that it had or shall have: their final form is
 * written once all others are loosened too. Only what is listed here is ever settled.
 */
type Loosened = Map<string, string | null>;

async function walk(check: KeyCheck, kind: KeyRecordKind): Promise<{ live: number; loosened: Loosened }> {
  const { tx, findings } = check;
  const { table } = keyTables[kind];
  const loosened: Loosened = new Map();
  let live = 0;
  for await (const portion of judgedRows(check, kind)) {
    const sound: KeyRow[] = [];
    for (const each of portion) {
      if ("objection" in each) {
        findings.lost(`${each.name}: ${each.objection}`);
        live += 1;
        continue;
      }
      const { row, name, opens, expected } = each;
      // It was put there a moment ago, ahead of the walk.
      if (loosened.has(idOf(kind, row))) continue;
      if (!opens) findings.lost(`${name}: its sealed secret was changed`);
      if (expected === "deleted") {
        if (findings.differs(`${name}: it is deleted in the state`)) await deleteRow(tx, table, row as never);
        continue;
      }
      sound.push(row);
      const isCopy = expected !== "unknown" && (await loosen(check, kind, { ...each, expected }, loosened)) === "copy";
      if (!isCopy) live += 1;
    }
    if (kind === "privateKey") await checkAddresses(check, sound as Tables["private_keys"][]);
  }
  return { live, loosened };
}

type Comparable = Omit<Sound, "expected"> & { expected: KeyRow };

/** Takes a row that is not as its record says out of the way of others. A copy of one that stands in its place is removed. */
async function loosen(
  check: KeyCheck,
  kind: KeyRecordKind,
  { row, name, opens, expected }: Comparable,
  loosened: Loosened,
): Promise<"copy" | undefined> {
  const { tx, findings } = check;
  const { table, id: idColumn } = keyTables[kind];
  const columns = differingColumns(expected, row);
  const [id, ownId] = [idOf(kind, row), idOf(kind, expected)];
  // Without its secret it may be no more than a copy, and is not put in the place of another.
  if (id !== ownId && !opens) return undefined;
  if (columns.length === 0 || !findings.differs(`${name}: ${columns.join(", ")} not as in its record`))
    return undefined;
  const index = "blind_index" in expected ? expected.blind_index : null;
  if (id === ownId) {
    await updateRow(tx, table, row as never, loose(table) as never);
    loosened.set(id, index);
    return undefined;
  }
  const other = await findRow(check, kind, ownId);
  if (other !== undefined && (await isInPlace(check, kind, other))) {
    await deleteRow(tx, table, row as never);
    return "copy";
  }
  // Whoever stands in its place may be on the way to another.
  const freeId = other === undefined ? ownId : unlikeAny();
  await deleteRow(tx, table, row as never);
  await insertRow(tx, table, { ...expected, ...loose(table), [idColumn]: freeId } as never);
  loosened.set(freeId, index);
  return undefined;
}

async function findRow({ tx, state }: KeyCheck, kind: KeyRecordKind, id: string): Promise<KeyRow | undefined> {
  const { table, id: column } = keyTables[kind];
  const [row] = await rowsWith(tx, table, state.organizationId, column as never, [id]);
  return row as KeyRow | undefined;
}

/** Whether a row holds the record of the id it stands under, and its secret. */
async function isInPlace(check: KeyCheck, kind: KeyRecordKind, row: KeyRow): Promise<boolean> {
  const [each] = await judge(check, kind, [row]);
  if (each === undefined || "objection" in each || !each.opens) return false;
  return typeof each.expected === "object" && idOf(kind, each.expected) === idOf(kind, row);
}

/** The final form of everything that was loosened; how many were copies of what had come to its place before them, and went. */
async function settle(check: KeyCheck, kind: KeyRecordKind, loosened: Loosened): Promise<number> {
  const { tx, findings } = check;
  let copies = 0;
  const { table } = keyTables[kind];
  for await (const portion of judgedRows(check, kind)) {
    for (const each of portion) {
      if ("objection" in each || typeof each.expected === "string") continue;
      const { row, name, expected } = each;
      const id = idOf(kind, row);
      const index = loosened.get(id);
      if (index === undefined) continue;
      const other = id === idOf(kind, expected) ? undefined : await findRow(check, kind, idOf(kind, expected));
      if (other !== undefined && (await isInPlace(check, kind, other))) {
        await deleteRow(tx, table, row as never);
        copies += 1;
      } else if (other !== undefined) findings.lost(`${name}: a row that is not its own stands in its place`);
      else {
        const final = "blind_index" in expected ? { ...expected, blind_index: index } : expected;
        await updateRow(tx, table, row as never, final as never);
      }
    }
  }
  return copies;
}

/** Values that no other row has, for the columns in which no two may be equal. Names are anybody's choice: only chance is unlike all. */
function loose(table: KeyTable): Partial<KeyRow> {
  const name = { name_key: unlikeAny() };
  return table === "wallet_accounts" ? { ...name, path_key: unlikeAny() } : { ...name, blind_index: null };
}

function unlikeAny(): string {
  return `~${randomUUID()}`;
}

async function expectedRow(
  check: KeyCheck,
  record: KeyRecord,
  row: KeyRow,
  blindIndex: string | undefined,
): Promise<KeyRow | "deleted" | "unknown"> {
  const { factsOf, pages } = check.state;
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
      sortKey: "sort_key" in row ? await placeOf(check, record, row.sort_key) : "",
    },
  );
  // No page says when a key was last tagged: any time since is as good.
  if (record.kind === "privateKey" && row.updated_at_ms > expected.updated_at_ms) {
    expected.updated_at_ms = row.updated_at_ms;
  }
  return expected;
}

/** The addresses that a private key is found by. */
async function checkAddresses(
  { tx, state, findings }: KeyCheck,
  rows: readonly Tables["private_keys"][],
): Promise<void> {
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

async function checkStrayAddresses({ tx, state, findings }: KeyCheck): Promise<void> {
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
