/** Whether the tables that queries read show exactly what the pages and the records hold. */
import { isDeepStrictEqual } from "node:util";
import { foldName } from "@keystead/server/fields/names.ts";
import { isLive } from "@keystead/server/rules/keys.ts";
import { emptyPages, findKeyFacts, isPageName, type Pages, withPage } from "@keystead/server/state/pages.ts";
import type { KeyRecord } from "@keystead/server/state/records.ts";
import { rowsOfPages } from "@keystead/server/store/entity_rows.ts";
import type { Store } from "@keystead/server/store/store.ts";
import type { TableName } from "@keystead/server/store/tables.ts";
import { rowsOf } from "../../../server/test/exported_rows.ts";
import type { OrganizationLog } from "./log.ts";

type Row = Record<string, unknown>;

/** Each difference is one line. */
export async function compareProjection(
  store: Store,
  { organizationId, organization }: OrganizationLog,
  content: ReadonlyMap<string, Uint8Array>,
  records: readonly KeyRecord[],
): Promise<string[]> {
  let pages: Pages = emptyPages;
  for (const [name, bytes] of content) if (isPageName(name)) pages = withPage(pages, name, bytes);
  const { settings } = pages;
  const expected: Partial<Record<TableName, Row[]>> = {
    ...Object.fromEntries(rowsOfPages(organizationId, pages)),
    ...keyRows(pages, settings.deleted === true ? [] : records),
  };
  const tables = Object.entries(expected) as [TableName, Row[]][];
  const compared = await Promise.all(
    tables.map(async ([table, rows]) => {
      const columns = Object.keys(rows[0] ?? {});
      const shown = (await rowsOf(store, table, organizationId)) as unknown as Row[];
      const ours = sorted(shown.map((row) => Object.fromEntries(columns.map((column) => [column, row[column]]))));
      if (isDeepStrictEqual(ours, sorted(rows))) return [];
      return [`table ${table} shows ${JSON.stringify(ours)}, and the state says ${JSON.stringify(sorted(rows))}`];
    }),
  );
  const found = compared.flat();
  const said = [organization.organization_name, organization.deleted_at_ms !== null];
  if (!isDeepStrictEqual(said, [settings.organizationName, settings.deleted === true])) {
    found.push(`its row says ${said}`);
  }
  return found;
}

/** Keys that are there, by the names they bear now. */
function keyRows(pages: Pages, records: readonly KeyRecord[]): Partial<Record<TableName, Row[]>> {
  const factsOf = (id: string) => findKeyFacts(pages, id);
  const isGone = (record: KeyRecord) => !isLive({ factsOf }, record);
  const common = (id: string, name: string, { imported, createdAtMs }: { imported: boolean; createdAtMs: number }) => ({
    name_key: foldName(factsOf(id)?.name ?? name),
    exported: factsOf(id)?.exported === true ? 1 : 0,
    imported: Number(imported),
    created_at_ms: createdAtMs,
  });
  return {
    wallets: records.flatMap((record) => {
      if (record.kind !== "wallet" || isGone(record)) return [];
      const { walletId, walletName } = record;
      const name = factsOf(walletId)?.name ?? walletName;
      return [{ wallet_id: walletId, wallet_name: name, ...common(walletId, walletName, record) }];
    }),
    wallet_accounts: records.flatMap((record) => {
      if (record.kind !== "walletAccount" || isGone(record)) return [];
      const { walletAccountId, walletId, curve, path, address } = record;
      return [{ wallet_account_id: walletAccountId, wallet_id: walletId, curve, path, address }];
    }),
    private_keys: records.flatMap((record) => {
      if (record.kind !== "privateKey" || isGone(record)) return [];
      const { privateKeyId, privateKeyName, addresses } = record;
      return [
        {
          private_key_id: privateKeyId,
          private_key_name: factsOf(privateKeyId)?.name ?? privateKeyName,
          addresses: JSON.stringify(addresses),
          ...common(privateKeyId, privateKeyName, record),
        },
      ];
    }),
  };
}

/** Tables have no order of their own. */
function sorted(rows: readonly Row[]): Row[] {
  return [...rows].sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
