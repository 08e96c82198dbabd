/** A group commit in SQLite: one transaction, prepared statements, no await from begin to commit. */
import type { SQLInputValue } from "node:sqlite";
import { passed } from "../state/steps.ts";
import type { Marks, ReleasedLeaf } from "./commit_item.ts";
import { organizationRow } from "./commit_plan.ts";
import { writeEntities } from "./commit_sqlite_entities.ts";
import { isEmptyKeyPlan, type KeyPlan, type KeyRowChange } from "./key_plan.ts";
import { keyTables, privateKeyAddressRows, tablesOfKeys } from "./key_rows.ts";
import type { OrganizationPlan } from "./organization_plan.ts";
import type { SqliteConnection } from "./sqlite_dialect.ts";
import { insert } from "./sqlite_insert.ts";
import type { Tables } from "./tables.ts";

/** The ids of the organizations whose items were committed. */
export function write(sqlite: SqliteConnection, plans: readonly OrganizationPlan[], marks: Marks): Set<string> {
  try {
    return transaction(sqlite, () => {
      writeMarks(sqlite, marks);
      return new Set(plans.filter((plan) => writeOrganization(sqlite, plan)).map((plan) => plan.organizationId));
    });
  } catch (error) {
    if (!isViolation(error)) throw error;
  }
  return transaction(sqlite, () => {
    writeMarks(sqlite, marks);
    return new Set(plans.filter((plan) => writeAlone(sqlite, plan)).map((plan) => plan.organizationId));
  });
}

function transaction<T>(sqlite: SqliteConnection, work: () => T): T {
  sqlite.statement("begin immediate").run();
  passed("begun");
  try {
    const result = work();
    passed("written");
    sqlite.statement("commit").run();
    return result;
  } catch (error) {
    // A full disk may have ended the transaction already.
    if (sqlite.database.isTransaction) sqlite.statement("rollback").run();
    throw error;
  }
}

function writeAlone(sqlite: SqliteConnection, plan: OrganizationPlan): boolean {
  sqlite.statement("savepoint organization").run();
  try {
    const written = writeOrganization(sqlite, plan);
    sqlite.statement("release organization").run();
    return written;
  } catch (error) {
    if (!isViolation(error)) throw error;
    sqlite.statement("rollback to organization").run();
    sqlite.statement("release organization").run();
    return false;
  }
}

const [primaryKeyViolated, uniqueViolated, notNullViolated] = [1555, 2067, 1299];

function isViolation(error: unknown): boolean {
  const { errcode, message } = error as { errcode?: number; message: string };
  if (errcode === notNullViolated)
    return /\b(activities\.status|idempotency_keys\.request|contact_claims\.sub_organization_id)$/.test(message);
  return errcode === primaryKeyViolated || errcode === uniqueViolated;
}

function writeMarks(sqlite: SqliteConnection, { released, entries, runs }: Marks): void {
  release(sqlite, released);
  for (const row of entries) insert(sqlite, "log_entries", row);
  for (const row of runs) insert(sqlite, "log_runs", row);
}

function release(sqlite: SqliteConnection, released: readonly ReleasedLeaf[]): void {
  for (const { organizationId, boot, first, last } of toRanges(released)) {
    sqlite
      .statement("delete from unreleased where organization_id = ? and boot = ? and number between ? and ?")
      .run(organizationId, boot, first, last);
  }
  for (const { organizationId, activityId, result, proofs } of released) {
    if (activityId === undefined) continue;
    if (proofs !== undefined) {
      sqlite
        .statement("update app_proofs set proofs = ? where organization_id = ? and activity_id = ? and proofs is null")
        .run(proofs, organizationId, activityId);
    }
    if (result === undefined) continue;
    sqlite
      .statement("update activities set result = ? where organization_id = ? and activity_id = ? and result is null")
      .run(result, organizationId, activityId);
  }
}

type LeafRange = { organizationId: string; boot: string; first: number; last: number };

/** A signer numbers leaves in the order it prepares them, so those of one group are few ranges without gaps. */
function toRanges(released: readonly ReleasedLeaf[]): LeafRange[] {
  const ranges: LeafRange[] = [];
  for (const { organizationId, boot, number } of released) {
    const range = ranges.at(-1);
    if (range?.organizationId === organizationId && range.boot === boot && range.last === number - 1) {
      range.last = number;
    } else ranges.push({ organizationId, boot, first: number, last: number });
  }
  return ranges;
}

/** False, with nothing written, when the organization is not in the expected state. */
function writeOrganization(sqlite: SqliteConnection, plan: OrganizationPlan): boolean {
  if (!doOthersStand(sqlite, plan) || !moveHead(sqlite, plan)) return false;
  for (const page of plan.pages.values()) writePage(sqlite, page);
  for (const leaf of plan.leaves) {
    insert(sqlite, "leaves", leaf);
    insert(sqlite, "unreleased", leaf);
  }
  for (const disclosure of plan.disclosures) insert(sqlite, "disclosures", disclosure);
  for (const disclosure of plan.sealedDisclosures) insert(sqlite, "sealed_disclosures", disclosure);
  for (const activity of plan.activities.values()) insert(sqlite, "activities", activity);
  for (const body of plan.sealedBodies) insert(sqlite, "sealed_bodies", body);
  for (const proofs of plan.appProofs) insert(sqlite, "app_proofs", proofs);
  for (const context of plan.decisionContexts.values()) insert(sqlite, "decision_contexts", context);
  for (const vote of plan.votes) insert(sqlite, "votes", vote);
  for (const code of plan.otpCodes) insert(sqlite, "otp_codes", code);
  for (const attempt of plan.otpAttempts) insert(sqlite, "otp_attempts", attempt);
  for (const key of plan.idempotencyKeys) insert(sqlite, "idempotency_keys", key);
  for (const claim of plan.signUpClaims) insert(sqlite, "sign_up_claims", claim);
  for (const claim of plan.contactClaims.values()) insert(sqlite, "contact_claims", claim);
  for (const row of plan.refusedBytes.values()) insert(sqlite, "refused_bytes", row);
  for (const message of plan.outbox) insert(sqlite, "outbox", message);
  for (const proof of plan.bootProofs) insert(sqlite, "boot_proofs", proof);
  for (const list of plan.loadedFiles) insert(sqlite, "loaded_files", list);
  for (const born of plan.births) writeOrganization(sqlite, born);
  writeEntities(sqlite, plan.organizationId, plan.entities);
  if (plan.settings?.deleted === true) deleteAllKeys(sqlite, plan.organizationId);
  else if (!isEmptyKeyPlan(plan.keys)) writeKeys(sqlite, plan.organizationId, plan.keys);
  return true;
}

const longPage = 16 * 1024;

/**
 * SQLite takes room for the new content of a row before it gives back that of the old, and what it gives back is overwritten: a long page
 * of another length would be written twice. Deleted first, it is written over itself.
 */
function writePage(sqlite: SqliteConnection, page: Tables["pages"]): void {
  if (page.content.length > longPage) {
    sqlite.statement("delete from pages where organization_id = ? and name = ?").run(page.organization_id, page.name);
  }
  insert(sqlite, "pages", page);
}

const isHead = "select 1 from organizations where organization_id = ? and header = ?";

function doOthersStand(sqlite: SqliteConnection, { standing }: OrganizationPlan): boolean {
  return standing.entries().every(([id, header]) => sqlite.statement(isHead).get(id, header) !== undefined);
}

const atExpected = "where organization_id = ? and version = coalesce(?, version) and header = coalesce(?, header)";

const isAtHead = `select 1 from organizations ${atExpected}`;

/** A column that is set, if only to what it was, has the pages of its indexes written: names are set when settings change. */
const setHead = `update organizations set version = ?, header = ?, directory = ? ${atExpected}`;
const setHeadAndSettings = `update organizations set version = ?, header = ?, directory = ?,
  organization_name = ?, updated_at_ms = ?, deleted_at_ms = coalesce(?, deleted_at_ms) ${atExpected}`;

function moveHead(sqlite: SqliteConnection, plan: OrganizationPlan): boolean {
  const { organizationId, head, birth, settings } = plan;
  const expectedVersion = plan.expectedVersion ?? null;
  const expectedHeader = plan.expectedHeader ?? null;
  if (birth !== undefined) {
    insert(sqlite, "organizations", organizationRow({ ...plan, birth }));
    if (birth.keyring !== undefined) insert(sqlite, "deployment", { id: 1, keyring: birth.keyring });
    return true;
  }
  if (head === undefined) {
    const found = sqlite.statement(isAtHead).get(organizationId, expectedVersion, expectedHeader);
    return found !== undefined;
  }
  const stored = [head.version, head.header, head.directory];
  const expected = [organizationId, expectedVersion, expectedHeader];
  if (settings === undefined) return sqlite.statement(setHead).run(...stored, ...expected).changes === 1;
  const { organizationName, updatedAtMs, deleted } = settings;
  const named = [organizationName, updatedAtMs, deleted === true ? updatedAtMs : null];
  return sqlite.statement(setHeadAndSettings).run(...stored, ...named, ...expected).changes === 1;
}

/** What the same group would still have changed of them is gone, too. */
function deleteAllKeys(sqlite: SqliteConnection, organizationId: string): void {
  for (const table of tablesOfKeys) {
    sqlite.statement(`delete from ${table} where organization_id = ?`).run(organizationId);
  }
}

function writeKeys(sqlite: SqliteConnection, organizationId: string, keys: KeyPlan): void {
  for (const change of keys.changed.values()) changeKey(sqlite, organizationId, change);
  for (const wallet of keys.wallets.values()) insert(sqlite, "wallets", wallet);
  for (const account of keys.accounts.values()) insert(sqlite, "wallet_accounts", account);
  for (const key of keys.privateKeys.values()) {
    insert(sqlite, "private_keys", key);
    for (const address of privateKeyAddressRows(key)) insert(sqlite, "private_key_addresses", address);
  }
}

function changeKey(sqlite: SqliteConnection, organizationId: string, change: KeyRowChange): void {
  const { table, id } = keyTables[change.kind];
  const run = (text: string, ...values: SQLInputValue[]) => sqlite.statement(text).run(...values);
  if (!change.deleted) {
    const changes = Object.entries(change.columns);
    const assignments = changes.map(([column]) => `${column} = ?`).join(", ");
    const values = changes.map(([, value]) => value);
    run(
      `update ${table} set ${assignments} where organization_id = ? and ${id} = ?`,
      ...values,
      organizationId,
      change.id,
    );
    return;
  }
  run(`delete from ${table} where organization_id = ? and ${id} = ?`, organizationId, change.id);
  // Its secrets go with it.
  if (change.kind === "wallet") {
    // Left to itself, SQLite goes through all accounts of the organization in the order of its primary key.
    const byWallet = "wallet_accounts indexed by wallet_accounts_of_wallet";
    run(`delete from ${byWallet} where organization_id = ? and wallet_id = ?`, organizationId, change.id);
  } else if (change.kind === "privateKey") {
    run(
      "delete from private_key_addresses where organization_id = ? and private_key_id = ?",
      organizationId,
      change.id,
    );
  }
}
