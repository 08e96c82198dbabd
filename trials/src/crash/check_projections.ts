/** Pages are those the directory lists, and the tables show exactly what pages and records say. Each difference is one line. */
import { isDeepStrictEqual } from "node:util";
import { toHex } from "@keystead/core/encoding/hex.ts";
import { isLive } from "@keystead/server/rules/keys.ts";
import { withoutMac } from "@keystead/server/state/authenticity.ts";
import { sha256 } from "@keystead/server/state/digest.ts";
import { decodeDirectory } from "@keystead/server/state/directory.ts";
import type { KnownFacts } from "@keystead/server/state/entities.ts";
import {
  emptyPages,
  entitiesIn,
  findKeyFacts,
  isPageName,
  type PageName,
  type Pages,
  withPage,
} from "@keystead/server/state/pages.ts";
import { decodeRecord, type KeyRecord, type RecordKind, recordIdOf } from "@keystead/server/state/records.ts";
import { rowsOfPages, toRows } from "@keystead/server/store/entity_rows.ts";
import { type EntityTableName, tabledKinds, tableOf } from "@keystead/server/store/entity_tables.ts";
import type { Rows } from "./deployment_rows.ts";

type Row = Readonly<Record<string, unknown>>;

export function checkProjections(rows: Rows): string[] {
  const { organization, pages: stored } = rows;
  const listed = new Map(decodeDirectory(organization.directory).pages.map(({ name, digest }) => [name, digest]));
  const found: string[] = [];
  let pages: Pages = emptyPages;
  for (const { name, content } of stored) {
    const digest = listed.get(name);
    if (digest === undefined || toHex(sha256(content)) !== toHex(digest))
      found.push(`page ${name} is not the one listed`);
    if (isPageName(name)) pages = withPage(pages, name as PageName, content);
  }
  if (stored.length !== listed.size) found.push(`${stored.length} pages, ${listed.size} listed`);
  const isDeleted = pages.settings.deleted === true;
  if (isDeleted !== (organization.deleted_at_ms !== null))
    found.push(`deleted: ${isDeleted}, and its row says otherwise`);
  if (pages.settings.organizationName !== organization.organization_name) found.push("the organization's name differs");
  const compare = (table: string, shown: readonly Row[], said: readonly Row[]) => {
    if (!isDeepStrictEqual(sorted(shown), sorted(said))) found.push(`${table} shows ${differing(shown, said)}`);
  };
  checkEntities(rows, pages, compare);
  checkWaiting(rows, pages, compare);
  if (isDeleted) checkNoKeys(rows, compare);
  else found.push(...checkKeys(rows, pages, compare));
  return found;
}

type Compare = (table: string, shown: readonly Row[], said: readonly Row[]) => void;

const textOf = (row: Row): string => JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
const sorted = (rows: readonly Row[]): string[] => rows.map(textOf).sort();

function differing(shown: readonly Row[], said: readonly Row[]): string {
  const [own, other] = [new Set(shown.map(textOf)), new Set(said.map(textOf))];
  const [extra] = [...own].filter((text) => !other.has(text));
  const [missing] = [...other].filter((text) => !own.has(text));
  return `${shown.length} rows for ${said.length}; only there: ${extra}; missing: ${missing}`;
}

/** Tables of entities show what the table of kinds makes of the pages; `entity_tables.test.ts` holds that against rows written out. */
function checkEntities(rows: Rows, pages: Pages, compare: Compare): void {
  const stored = rows as unknown as Readonly<Record<EntityTableName, readonly Row[]>>;
  for (const [table, said] of rowsOfPages(rows.organization.organization_id, pages)) {
    compare(table, stored[table], said);
  }
  for (const kind of tabledKinds) {
    const { table, id, text } = tableOf(kind);
    if (text === undefined) continue;
    const entities = entitiesIn(pages, kind);
    const texts = new Map(stored[table].map((row) => [String(row[id]), row.record as Uint8Array]));
    const said = [...entities].map(
      ([entityId, entity]) => toRows(kind, rows.organization.organization_id, entity, texts.get(entityId) ?? none).row,
    );
    compare(table, stored[table], said);
    for (const [entityId, record] of texts) {
      const entity = entities.get(entityId);
      const own = entity !== undefined && text.isOf(decodeRecord(withoutMac(record)), entity);
      compare(`the text of ${table} ${entityId}`, [{ own }], [{ own: true }]);
    }
  }
}

const none = new Uint8Array();

/** What waits in the page waits in the table, with as many approvals as there were submissions and votes. */
function checkWaiting({ activities, votes }: Rows, { pending }: Pages, compare: Compare): void {
  compare(
    "activities",
    activities
      .filter(({ status }) => status === "ACTIVITY_STATUS_CONSENSUS_NEEDED")
      .map(({ fingerprint, activity_id }) => {
        const approvals = 1 + votes.filter((vote) => vote.activity_id === activity_id).length;
        return { fingerprint, activity_id, approvals };
      }),
    [...pending.values()].map(({ fingerprint, activityId, approvals }) => {
      return { fingerprint, activity_id: activityId, approvals: approvals.length };
    }),
  );
}

function checkNoKeys(rows: Rows, compare: Compare): void {
  for (const table of ["wallets", "wallet_accounts", "private_keys", "private_key_addresses"] as const) {
    compare(table, rows[table] as unknown as Row[], []);
  }
}

function read<K extends RecordKind>(marked: Uint8Array, kind: K) {
  const record = decodeRecord(marked.subarray(0, marked.length - 32));
  if (record.kind !== kind) throw new Error(`a record of ${record.kind} where one of ${kind} should be`);
  return record as Extract<typeof record, { kind: K }>;
}

/** Rows are their records with what happened to them since; there are as many as the page has counted, and none that was deleted. */
function checkKeys(rows: Rows, pages: Pages, compare: Compare): string[] {
  const found: string[] = [];
  const { wallets, wallet_accounts, private_keys, private_key_addresses } = rows;
  const factsOf = (id: string): Partial<KnownFacts> => findKeyFacts(pages, id) ?? {};
  const counts = { wallets: wallets.length, privateKeys: private_keys.length };
  const { exported: _, ...counted } = pages.keyCounts;
  if (!isDeepStrictEqual(counts, counted))
    found.push(`${JSON.stringify(counts)} keys, ${JSON.stringify(counted)} counted`);
  compare(
    "wallets",
    wallets.map(({ wallet_id, wallet_name, exported, imported }) => ({ wallet_id, wallet_name, exported, imported })),
    wallets.map(({ record }) => {
      const { walletId, walletName, imported } = read(record, "wallet");
      const { name = walletName, exported = false } = factsOf(walletId);
      return { wallet_id: walletId, wallet_name: name, exported: Number(exported), imported: Number(imported) };
    }),
  );
  compare(
    "wallet_accounts",
    wallet_accounts.map(({ wallet_account_id, wallet_id, path, address, public_key, account_name }) => {
      return { wallet_account_id, wallet_id, path, address, public_key, account_name };
    }),
    wallet_accounts.map(({ record }) => {
      const account = read(record, "walletAccount");
      return {
        wallet_account_id: account.walletAccountId,
        wallet_id: account.walletId,
        path: account.path,
        address: account.address,
        public_key: account.publicKey,
        account_name: factsOf(account.walletAccountId).name ?? account.name ?? null,
      };
    }),
  );
  compare(
    "private_keys",
    private_keys.map(
      ({ private_key_id, private_key_name, public_key, addresses, exported, private_key_tags: tags }) => {
        return { private_key_id, private_key_name, public_key, addresses, exported, tags };
      },
    ),
    private_keys.map(({ record }) => {
      const key = read(record, "privateKey");
      const { name = key.privateKeyName, exported = false } = factsOf(key.privateKeyId);
      return {
        private_key_id: key.privateKeyId,
        private_key_name: name,
        public_key: key.publicKey,
        addresses: JSON.stringify(key.addresses),
        exported: Number(exported),
        tags: JSON.stringify(pages.privateKeyTags.keys.get(key.privateKeyId) ?? []),
      };
    }),
  );
  const walletIds = new Set(wallets.map(({ wallet_id }) => wallet_id));
  for (const { wallet_account_id, wallet_id } of wallet_accounts) {
    if (!walletIds.has(wallet_id)) found.push(`account ${wallet_account_id} without its wallet`);
  }
  const keyIds = new Set(private_keys.map(({ private_key_id }) => private_key_id));
  for (const { private_key_id } of private_key_addresses) {
    if (!keyIds.has(private_key_id)) found.push(`an address of private key ${private_key_id}, which is not there`);
  }
  const records: KeyRecord[] = [
    ...wallets.map(({ record }) => read(record, "wallet")),
    ...wallet_accounts.map(({ record }) => read(record, "walletAccount")),
    ...private_keys.map(({ record }) => read(record, "privateKey")),
  ];
  for (const record of records) {
    if (!isLive({ factsOf: (id) => findKeyFacts(pages, id) }, record)) {
      found.push(`key ${recordIdOf(record)} is deleted, and there`);
    }
  }
  return found;
}
