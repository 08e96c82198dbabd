/**
 * Keys whose rows are gone. No page lists them all, because there may be a million; but each was made by an activity, and its id
 * derives from that activity's body, and from the tag that lies beside the activity's leaf.
 */
import { fromHex, toHex } from "@keystead/core/encoding/hex.ts";
import type { Leaf } from "@keystead/core/log/leaf.ts";
import { keyId, objectId } from "../../state/derived_id.ts";
import { decodeMade, type MadeRecord } from "../../state/drawn.ts";
import { type Inside, rowsOfTypes, rowsWith } from "../../store/projection_rows.ts";
import type { Tables } from "../../store/tables.ts";
import type { Findings } from "./check_findings.ts";
import type { CheckedState } from "./check_state.ts";

// biome-ignore lint/suspicious/noExplicitAny: a result as it was stored, whatever became of it.
type Json = any;

/** How many keys an activity has made, by what it answered. Types that make none are not here. */
const makers: Readonly<Record<string, (result: Json) => number>> = {
  ACTIVITY_TYPE_CREATE_WALLET: ({ addresses }) => 1 + addresses.length,
  ACTIVITY_TYPE_IMPORT_WALLET: ({ addresses }) => 1 + addresses.length,
  ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS: ({ addresses }) => addresses.length,
  ACTIVITY_TYPE_CREATE_PRIVATE_KEYS: ({ privateKeys }) => privateKeys.length,
  ACTIVITY_TYPE_CREATE_PRIVATE_KEYS_V2: ({ privateKeys }) => privateKeys.length,
  ACTIVITY_TYPE_IMPORT_PRIVATE_KEY: () => 1,
};

/** Whether records may lie beside it. An organization may be born with a wallet, and texts of contracts are records, too. */
export function mayMakeRecords({ event, activityType }: Leaf): boolean {
  const isMaker =
    makers[activityType] !== undefined || activityType === "ACTIVITY_TYPE_CREATE_SMART_CONTRACT_INTERFACE";
  return event === "BIRTH" || (event === "COMPLETED" && isMaker);
}

const activitiesAtOnce = 50;

export async function checkMade(tx: Inside, state: CheckedState, findings: Findings): Promise<void> {
  const { organizationId, header, pages } = state;
  if (pages.settings.deleted === true) return;
  for await (const rows of rowsOfTypes(tx, organizationId, Object.keys(makers), activitiesAtOnce)) {
    const tags = await tagsOf(tx, organizationId, rows);
    for (const row of rows) {
      const { count, walletId } = madeBy(row);
      const fingerprint = fromHex(row.fingerprint);
      const made = tags.get(row.activity_id);
      const ids = Array.from({ length: count }, (_, index): MadeKey => {
        const own = made?.[index];
        if (own === undefined) return { id: objectId(header.organizationId, fingerprint, index) };
        return { id: keyId(header.organizationId, fingerprint, index, toHex(own.tag)) };
      });
      for (const { id } of await missingOf(tx, state, walletId, ids)) {
        findings.lost(
          `wallets, wallet_accounts, private_keys: the row of ${id} is missing, which activity ${row.activity_id} made`,
        );
      }
    }
  }
}

/** A key that an activity has made. Those from before there were tags have nothing beside their leaf. */
type MadeKey = { id: string };

/** What lies beside the leaves of these activities. Bytes that are no such thing are left out: then rows of other ids are missed. */
async function tagsOf(
  tx: Inside,
  organizationId: string,
  rows: readonly Tables["activities"][],
): Promise<Map<string, MadeRecord[]>> {
  const leaves = await rowsWith(
    tx,
    "leaves",
    organizationId,
    "activity_id",
    rows.map(({ activity_id }) => activity_id),
  );
  return new Map(
    leaves.flatMap(({ activity_id, made }): [string, MadeRecord[]][] => {
      const read = made === null ? undefined : readMade(made);
      return activity_id === null || read === undefined ? [] : [[activity_id, read]];
    }),
  );
}

function readMade(bytes: Uint8Array): MadeRecord[] | undefined {
  try {
    return decodeMade(bytes);
  } catch {
    return undefined;
  }
}

/** `walletId` where what was made belongs to a wallet. */
type Made = { count: number; walletId?: string | undefined };

/** None where the row was changed, which is said elsewhere. */
function madeBy({ type, result, body, fingerprint }: Tables["activities"]): Made {
  try {
    const { parameters } = JSON.parse(Buffer.from(body).toString("utf8"));
    if (parameters.persist === false || !/^[0-9a-f]{64}$/.test(fingerprint)) return { count: 0 };
    const answered = JSON.parse(result ?? "null");
    return {
      count: Math.min(1_000, makers[type]?.(answered) ?? 0),
      walletId: parameters.walletId ?? answered.walletId,
    };
  } catch {
    return { count: 0 };
  }
}

/** Those that are in no table, and that nobody has deleted. The accounts of a deleted wallet went with it. */
async function missingOf(
  tx: Inside,
  { organizationId, factsOf }: CheckedState,
  walletId: string | undefined,
  keys: readonly MadeKey[],
): Promise<MadeKey[]> {
  if (keys.length === 0) return [];
  const ids = keys.map(({ id }) => id);
  const isGone = async ({ id }: { id: string }) => {
    const facts = await factsOf(id);
    return facts === "unknown" || facts?.deleted === true;
  };
  const wallets = await rowsWith(tx, "wallets", organizationId, "wallet_id", ids);
  const accounts = await rowsWith(tx, "wallet_accounts", organizationId, "wallet_account_id", ids);
  const privateKeys = await rowsWith(tx, "private_keys", organizationId, "private_key_id", ids);
  const there = new Set([
    ...wallets.map(({ wallet_id }) => wallet_id),
    ...accounts.map(({ wallet_account_id }) => wallet_account_id),
    ...privateKeys.map(({ private_key_id }) => private_key_id),
  ]);
  const absent = keys.filter(({ id }) => !there.has(id));
  if (absent.length === 0) return [];
  if (walletId !== undefined && (await isGone({ id: walletId }))) return [];
  const missing: MadeKey[] = [];
  for (const key of absent) if (!(await isGone(key))) missing.push(key);
  return missing;
}
