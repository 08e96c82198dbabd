/**
 * What two items of one group may not do to an organization's keys. Each is right about the state it was prepared on; written
 * in one transaction they would meet in a unique column, be taken back together, and meet again. So the later one waits:
 * prepared anew, it sees what the earlier one did.
 */
import { foldName } from "../fields/names.ts";
import type { Change, KeyFacts } from "../state/entities.ts";
import type { KeyRecordKind } from "../state/records.ts";
import type { KeyClaims, KeyPlan, NewKeyRow } from "./key_plan.ts";

/** Whether an item with these new rows and changes must wait for what the plan has already. */
export function clashes({ claims, changed }: KeyPlan, rows: readonly NewKeyRow[], changes: readonly Change[]): boolean {
  const facts = keyFactsOf(changes);
  if (takenBy(rows, facts).some(({ claim, id }) => (claims.taken.get(claim) ?? id) !== id)) return true;
  // Within one statement PostgreSQL changes a row or deletes it, and does not say which.
  const isWalletGone = ({ kind, deleted }: Touched) => kind === "wallet" && deleted === true;
  const isAccountChanged = ({ kind, deleted }: Touched) => kind === "walletAccount" && deleted !== true;
  return (
    (facts.some(isWalletGone) && changed.values().some(isAccountChanged)) ||
    (facts.some(isAccountChanged) && changed.values().some(isWalletGone))
  );
}

type Touched = { kind: KeyRecordKind; deleted?: boolean };

/** Notes what an item takes and frees. */
export function addClaims({ claims }: KeyPlan, rows: readonly NewKeyRow[], changes: readonly Change[]): void {
  const facts = keyFactsOf(changes);
  const takers = [...rows, ...facts.filter(({ name, deleted }) => name !== undefined && deleted !== true)];
  claims.isMixed ||= takers.some(({ kind, id }) => [...(claims.freed.get(kind) ?? [])].some((other) => other !== id));
  for (const { claim, id } of takenBy(rows, facts)) claims.taken.set(claim, id);
  for (const { kind, id, name, deleted } of facts) {
    if (name === undefined && deleted !== true) continue;
    free(claims, kind, id);
    if (kind === "wallet" && deleted === true) free(claims, "walletAccount", id);
  }
}

function free({ freed }: KeyClaims, kind: KeyRecordKind, id: string): void {
  freed.set(kind, (freed.get(kind) ?? new Set()).add(id));
}

function keyFactsOf(changes: readonly Change[]): KeyFacts[] {
  return changes.flatMap((change) => (change.kind === "keyFacts" && change.op === "put" ? change.value : []));
}

type Taken = { claim: string; id: string };

function takenBy(rows: readonly NewKeyRow[], facts: readonly KeyFacts[]): Taken[] {
  const renamed = facts.flatMap(({ kind, id, name }) =>
    name === undefined ? [] : { claim: nameClaim(kind, foldName(name)), id },
  );
  return [...rows.flatMap((row) => claimsOf(row).map((claim) => ({ claim, id: row.id }))), ...renamed];
}

/** One text per value of a unique column. */
function claimsOf({ kind, row }: NewKeyRow): string[] {
  const claims = row.name_key === null ? [] : [nameClaim(kind, row.name_key)];
  if (kind === "walletAccount") {
    return [...claims, JSON.stringify(["place", row.wallet_id, row.path_key, row.curve, row.address_format])];
  }
  return row.blind_index === null ? claims : [...claims, JSON.stringify(["secret", kind, row.blind_index])];
}

function nameClaim(kind: KeyRecordKind, nameKey: string): string {
  return JSON.stringify(["name", kind, nameKey]);
}
