/** Records that are looked for by the dozen: those of one kind come in one statement. */
import { sql } from "kysely";
import { foldName } from "../fields/names.ts";
import type { RecordWish } from "../state/record_wish.ts";
import type { KeyRecordKind } from "../state/records.ts";
import { createBreathing } from "./breaths.ts";
import { compiled } from "./compiled.ts";
import { type FoundRecord, findRecords } from "./records.ts";
import type { Store } from "./store.ts";

/** A thousand look-ups at once would keep everybody else waiting for as long. */
const lookUpsAtOnce = 50;

type FoundByKey = FoundRecord & { key: string };
type FindMany = (store: Store, organizationId: string, ...keys: string[]) => Promise<FoundByKey[]> | FoundByKey[];

/** Always asked for as many keys, so that one statement serves all. */
function manyBy(table: string, column: string): FindMany {
  return compiled(`${table}_by_many_of_${column}`, (db, organizationId: string, ...keys: string[]) => {
    const text = sql<FoundByKey>`select ${sql.ref(column)} as key, record as content, sealed from ${sql.table(table)}
      where organization_id = ${organizationId} and ${sql.ref(column)} in (${sql.join(keys)})`;
    return { compile: () => text.compile(db) };
  });
}

/** The columns that name one key each, by how a wish names it. */
const finders: Readonly<Record<string, Partial<Record<string, FindMany>>>> = {
  id: {
    wallet: manyBy("wallets", "wallet_id"),
    walletAccount: manyBy("wallet_accounts", "wallet_account_id"),
    privateKey: manyBy("private_keys", "private_key_id"),
  } satisfies Record<KeyRecordKind, FindMany>,
  name: {
    wallet: manyBy("wallets", "name_key"),
    walletAccount: manyBy("wallet_accounts", "name_key"),
    privateKey: manyBy("private_keys", "name_key"),
  } satisfies Record<KeyRecordKind, FindMany>,
  blindIndex: {
    wallet: manyBy("wallets", "blind_index"),
    privateKey: manyBy("private_keys", "blind_index"),
  },
};

/** What is found for these wishes, in their order. */
export async function loadRecords(
  store: Store,
  organizationId: string,
  wishes: readonly RecordWish[],
): Promise<FoundRecord[]> {
  const breathing = createBreathing();
  const found: FoundRecord[] = [];
  for (let at = 0; at < wishes.length; at += lookUpsAtOnce) {
    const pause = breathing();
    if (pause !== undefined) await pause;
    const some = wishes.slice(at, at + lookUpsAtOnce);
    const byWish = new Map<RecordWish, readonly FoundRecord[]>();
    for (const [finder, own] of Map.groupBy(some, finderOf)) {
      const records = await loadAlike(store, organizationId, finder, own);
      for (const [index, wish] of own.entries()) byWish.set(wish, records[index] ?? []);
    }
    found.push(...some.flatMap((wish) => byWish.get(wish) ?? []));
  }
  return found;
}

/** What is found for each of them. */
async function loadAlike(
  store: Store,
  organizationId: string,
  finder: FindMany | undefined,
  wishes: readonly RecordWish[],
): Promise<FoundRecord[][]> {
  if (finder === undefined || wishes.length === 1) {
    return Promise.all(wishes.map((wish) => findRecords(store, organizationId, wish)));
  }
  const keys = wishes.map(keyOf);
  const [first = ""] = keys;
  const asked = [...keys, ...Array.from({ length: lookUpsAtOnce - keys.length }, () => first)];
  const rows = Map.groupBy(await finder(store, organizationId, ...asked), ({ key }) => key);
  return keys.map((key) => (rows.get(key) ?? []).map(({ content, sealed }) => ({ content, sealed })));
}

function finderOf(wish: RecordWish): FindMany | undefined {
  return "kind" in wish ? finders[wish.by]?.[wish.kind] : undefined;
}

function keyOf(wish: RecordWish): string {
  if (wish.by === "name") return foldName(wish.name);
  if (wish.by === "blindIndex") return wish.blindIndex;
  if (wish.by === "id") return wish.id;
  throw new TypeError(`records are not looked for by the dozen by ${wish.by}`);
}
