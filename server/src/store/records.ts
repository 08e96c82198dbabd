/** Finds the records that an activity wishes for. The signer checks whatever is found. */
import { isUuid } from "@keystead/core/encoding/uuid.ts";
import { addressKey } from "@keystead/core/keys/address_spelling.ts";
import { sql } from "kysely";
import { foldName } from "../fields/names.ts";
import type { RecordWish } from "../state/record_wish.ts";
import { type KeyRecordKind, type RecordKind, type TextRecord, textRecordKinds } from "../state/records.ts";
import { compiled } from "./compiled.ts";
import { tableOf } from "./entity_tables.ts";
import type { Store } from "./store.ts";

export type FoundRecord = { content: Uint8Array; sealed: Uint8Array };

const columns = ["record as content", "sealed"] as const;

type Find = (store: Store, organizationId: string, value: string) => Promise<FoundRecord[]> | FoundRecord[];

const noSecret = new Uint8Array();

/** Texts lie in the tables of the entities that they belong to, without a secret. */
function textById(kind: TextRecord["kind"]): Find {
  const { table, id } = tableOf(kind);
  const find = compiled(`${table}_record`, (db, organizationId: string, entityId: string) => {
    const text = sql<{ content: Uint8Array }>`select record as content from ${sql.table(table)}
      where organization_id = ${organizationId} and ${sql.ref(id)} = ${entityId}`;
    return { compile: () => text.compile(db) };
  });
  return async (store, organizationId, entityId) =>
    (await find(store, organizationId, entityId)).map(({ content }) => ({ content, sealed: noSecret }));
}

const textsById = Object.fromEntries(
  (Object.keys(textRecordKinds) as TextRecord["kind"][]).map((kind) => [kind, textById(kind)]),
) as Record<TextRecord["kind"], Find>;

const codeById = compiled("otp_code_record", (db, organizationId: string, otpId: string) =>
  db
    .selectFrom("otp_codes")
    .select("record as content")
    .where("organization_id", "=", organizationId)
    .where("otp_id", "=", otpId),
);

const byId: Record<RecordKind, Find> = {
  ...textsById,
  otpCode: async (store, organizationId, otpId) =>
    (await codeById(store, organizationId, otpId)).map(({ content }) => ({ content, sealed: noSecret })),
  wallet: compiled("wallet_record", (db, organizationId: string, id: string) =>
    db.selectFrom("wallets").select(columns).where("organization_id", "=", organizationId).where("wallet_id", "=", id),
  ),
  walletAccount: compiled("account_record", (db, organizationId: string, id: string) =>
    db
      .selectFrom("wallet_accounts")
      .select(columns)
      .where("organization_id", "=", organizationId)
      .where("wallet_account_id", "=", id),
  ),
  privateKey: compiled("private_key_record", (db, organizationId: string, id: string) =>
    db
      .selectFrom("private_keys")
      .select(columns)
      .where("organization_id", "=", organizationId)
      .where("private_key_id", "=", id),
  ),
};

const byName: Record<KeyRecordKind, Find> = {
  wallet: compiled("wallet_by_name", (db, organizationId: string, nameKey: string) =>
    db
      .selectFrom("wallets")
      .select(columns)
      .where("organization_id", "=", organizationId)
      .where("name_key", "=", nameKey),
  ),
  walletAccount: compiled("account_by_name", (db, organizationId: string, nameKey: string) =>
    db
      .selectFrom("wallet_accounts")
      .select(columns)
      .where("organization_id", "=", organizationId)
      .where("name_key", "=", nameKey),
  ),
  privateKey: compiled("private_key_by_name", (db, organizationId: string, nameKey: string) =>
    db
      .selectFrom("private_keys")
      .select(columns)
      .where("organization_id", "=", organizationId)
      .where("name_key", "=", nameKey),
  ),
};

/**
 * Joined to nothing, the organization is no column of an index: SQLite would otherwise go through all accounts that it has,
 * because it takes the primary key for as good as the index of addresses.
 */
const accountsByAddress = compiled("account_by_address", (db, organizationId: string, key: string) =>
  db
    .selectFrom("wallet_accounts")
    .select([...columns, "created_at_ms", "sort_key"])
    .where("address_key", "=", key)
    .where(sql<string>`organization_id || ''`, "=", organizationId),
);

const privateKeysByAddress = compiled("private_key_by_address", (db, organizationId: string, key: string) =>
  db
    .selectFrom("private_key_addresses")
    .innerJoin("private_keys", (join) =>
      join
        .onRef("private_keys.organization_id", "=", "private_key_addresses.organization_id")
        .onRef("private_keys.private_key_id", "=", "private_key_addresses.private_key_id"),
    )
    .select([
      "private_keys.record as content",
      "private_keys.sealed",
      "private_keys.created_at_ms",
      "private_keys.sort_key",
    ])
    .where("private_key_addresses.organization_id", "=", organizationId)
    .where("private_key_addresses.address_key", "=", key),
);

/**
 * What has an address has one and the same key, so the oldest stands for all, and an account for private keys. Of those made
 * together it is the one that was asked for first, so that an export marks the same one on every database. It is chosen here because
 * every signature looks for one: a database that sorts a row or two takes three times as long.
 */
function oldest<R extends { created_at_ms: number; sort_key: string }>(rows: readonly R[]): R[] {
  return rows.toSorted((a, b) => a.created_at_ms - b.created_at_ms || (a.sort_key < b.sort_key ? -1 : 1)).slice(0, 1);
}

async function accountByAddress(store: Store, organizationId: string, key: string): Promise<FoundRecord[]> {
  return oldest(await accountsByAddress(store, organizationId, key));
}

async function byAddress(store: Store, organizationId: string, key: string): Promise<FoundRecord[]> {
  const accounts = await accountsByAddress(store, organizationId, key);
  return oldest(accounts.length > 0 ? accounts : await privateKeysByAddress(store, organizationId, key));
}

const byPlace = compiled(
  "account_by_place",
  (db, organizationId: string, walletId: string, pathKey: string, curve: string, addressFormat: string) =>
    db
      .selectFrom("wallet_accounts")
      .select(columns)
      .where("organization_id", "=", organizationId)
      .where("wallet_id", "=", walletId)
      .where("path_key", "=", pathKey)
      .where("curve", "=", curve)
      .where("address_format", "=", addressFormat),
);

const walletByBlindIndex = compiled("wallet_by_blind_index", (db, organizationId: string, blindIndex: string) =>
  db
    .selectFrom("wallets")
    .select(columns)
    .where("organization_id", "=", organizationId)
    .where("blind_index", "=", blindIndex),
);

const privateKeyByBlindIndex = compiled(
  "private_key_by_blind_index",
  (db, organizationId: string, blindIndex: string) =>
    db
      .selectFrom("private_keys")
      .select(columns)
      .where("organization_id", "=", organizationId)
      .where("blind_index", "=", blindIndex),
);

export async function findRecords(store: Store, organizationId: string, wish: RecordWish): Promise<FoundRecord[]> {
  const rows = await find(store, organizationId, wish);
  return rows.map(({ content, sealed }) => ({ content, sealed }));
}

function find(store: Store, organizationId: string, wish: RecordWish): Promise<FoundRecord[]> | FoundRecord[] {
  switch (wish.by) {
    case "id":
      return byId[wish.kind](store, organizationId, wish.id);
    case "name":
      return byName[wish.kind](store, organizationId, foldName(wish.name));
    case "address":
      return accountByAddress(store, organizationId, addressKey(wish.address));
    case "signWith":
      return isUuid(wish.signWith)
        ? byId.privateKey(store, organizationId, wish.signWith.toLowerCase())
        : byAddress(store, organizationId, addressKey(wish.signWith));
    case "place":
      return byPlace(store, organizationId, wish.walletId, wish.pathKey, wish.curve, wish.addressFormat);
    case "blindIndex":
      return wish.kind === "wallet"
        ? walletByBlindIndex(store, organizationId, wish.blindIndex)
        : privateKeyByBlindIndex(store, organizationId, wish.blindIndex);
  }
}
