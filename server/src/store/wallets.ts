/** Wallets and their accounts, for readers. */
import { addressKey } from "@keystead/core/keys/address_spelling.ts";
import { sql } from "kysely";
import { compiled } from "./compiled.ts";
import { readByAge } from "./pieces.ts";
import { read } from "./read.ts";
import { boundsOf, type Span } from "./span.ts";
import type { Store } from "./store.ts";
import type { Tables } from "./tables.ts";

type Unseen = "record" | "sealed" | "name_key" | "blind_index" | "path_key" | "address_key";

/** Everything but the record, its secret, and what they are looked up by. */
export type WalletRow = Omit<Tables["wallets"], Unseen>;
export type WalletAccountRow = Omit<Tables["wallet_accounts"], Unseen>;

const walletColumns = [
  "organization_id",
  "wallet_id",
  "wallet_name",
  "exported",
  "imported",
  "created_at_ms",
  "updated_at_ms",
] as const satisfies (keyof WalletRow)[];

const accountColumns = [
  "organization_id",
  "wallet_account_id",
  "wallet_id",
  "curve",
  "path",
  "address_format",
  "address",
  "public_key",
  "account_name",
  "sort_key",
  "created_at_ms",
  "updated_at_ms",
] as const satisfies (keyof WalletAccountRow)[];

const walletById = compiled("wallet_by_id", (db, organizationId: string, walletId: string) =>
  db
    .selectFrom("wallets")
    .select(walletColumns)
    .where("organization_id", "=", organizationId)
    .where("wallet_id", "=", walletId),
);

export async function findWallet(
  store: Store,
  organizationId: string,
  walletId: string,
): Promise<WalletRow | undefined> {
  const [row] = await walletById(store, organizationId, walletId);
  return row;
}

const walletsOfPiece = 256;

const nextWallets = compiled("wallets_of_organization", (db, organizationId: string, after: string) =>
  db
    .selectFrom("wallets")
    .select(walletColumns)
    .where("organization_id", "=", organizationId)
    .where("wallet_id", ">", after)
    .orderBy("wallet_id")
    .limit(walletsOfPiece),
);

/** All wallets, the oldest first. How many an organization may have is limited, so they need no pages. */
export function listWallets(store: Store, organizationId: string): Promise<WalletRow[]> {
  const keyed = { size: walletsOfPiece, read: nextWallets, keyOf: (row: WalletRow) => row.wallet_id };
  return readByAge(store, organizationId, keyed, (row) => row.created_at_ms);
}

/** The wallets with these ids, by id. */
export async function loadWallets(
  { db }: Store,
  organizationId: string,
  walletIds: readonly string[],
): Promise<Map<string, WalletRow>> {
  if (walletIds.length === 0) return new Map();
  const rows = await read(
    db
      .selectFrom("wallets")
      .select(walletColumns)
      .where("organization_id", "=", organizationId)
      .where("wallet_id", "in", walletIds),
  );
  return new Map(rows.map((row) => [row.wallet_id, row]));
}

const accountById = compiled("account_by_id", (db, organizationId: string, walletAccountId: string) =>
  db
    .selectFrom("wallet_accounts")
    .select(accountColumns)
    .where("organization_id", "=", organizationId)
    .where("wallet_account_id", "=", walletAccountId),
);

export async function findAccount(
  store: Store,
  organizationId: string,
  walletAccountId: string,
): Promise<WalletAccountRow | undefined> {
  const [row] = await accountById(store, organizationId, walletAccountId);
  return row;
}

/** Joined to nothing, the organization is no column of an index: SQLite would otherwise go through all accounts of the wallet. */
const accountsByAddress = compiled("accounts_by_address", (db, organizationId: string, walletId: string, key: string) =>
  db
    .selectFrom("wallet_accounts")
    .select(accountColumns)
    .where("address_key", "=", key)
    .where(sql<string>`organization_id || ''`, "=", organizationId)
    .where("wallet_id", "=", walletId)
    .orderBy("sort_key"),
);

/** The accounts of a wallet that have this address in any spelling, the oldest first. */
export async function findAccountsByAddress(
  store: Store,
  organizationId: string,
  walletId: string,
  address: string,
): Promise<WalletAccountRow[]> {
  return await accountsByAddress(store, organizationId, walletId, addressKey(address));
}

const accountsByPath = compiled(
  "accounts_by_path",
  (db, organizationId: string, walletId: string, pathKey: string, curve: string) =>
    db
      .selectFrom("wallet_accounts")
      .select(accountColumns)
      .where("organization_id", "=", organizationId)
      .where("wallet_id", "=", walletId)
      .where("path_key", "=", pathKey)
      .where("curve", "=", curve),
);

/** The accounts of a wallet at this path of a curve. `pathKey` is the path in its canonical form on that curve. */
export async function findAccountsByPath(
  store: Store,
  organizationId: string,
  walletId: string,
  pathKey: string,
  curve: string,
): Promise<WalletAccountRow[]> {
  return await accountsByPath(store, organizationId, walletId, pathKey, curve);
}

/** Part of the list of accounts, of one wallet or of all. Cursors are the sort keys of accounts in that list. */
export async function listAccounts(
  { db }: Store,
  organizationId: string,
  walletId: string | undefined,
  span: Span,
): Promise<WalletAccountRow[]> {
  const { above, below, direction, inOrder } = boundsOf(span, "asc");
  const all = db.selectFrom("wallet_accounts").select(accountColumns).where("organization_id", "=", organizationId);
  const rows = await read(
    (walletId === undefined ? all : all.where("wallet_id", "=", walletId))
      .where("sort_key", ">", above)
      .where("sort_key", "<", below)
      .orderBy("sort_key", direction)
      .limit(span.limit),
  );
  return inOrder(rows);
}
