import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { optional } from "../fields/credentials.ts";
import { id, organizationId } from "../fields/ids.ts";
import { type PaginationOptions, paginationOptions, parsePagination, unknownCursor } from "../fields/pagination.ts";
import { Type } from "../fields/schema.ts";
import { walletAccount } from "../fields/wallets.ts";
import type { Span } from "../store/span.ts";
import type { Store } from "../store/store.ts";
import { findAccount, findWallet, listAccounts, loadWallets } from "../store/wallets.ts";
import { walletAccountView } from "../views/wallet_view.ts";

/** Clients that know nothing of pages take what they get for all there is. */
const withoutPages = 100;

/** Lists accounts, the oldest first: `after` the last id of a page is the next page. */
export const listWalletAccounts = defineQuery({
  path: "list_wallet_accounts",
  summary: "List accounts of one wallet, or of all",
  request: Type.Object({
    organizationId,
    walletId: optional(id),
    includeWalletDetails: optional(Type.Boolean({ description: "Whether each account comes with its wallet." })),
    paginationOptions,
  }),
  response: Type.Object({ accounts: Type.Array(walletAccount) }),
  inSnapshot: true,
  async run(store, _caller, { organizationId, walletId, includeWalletDetails, paginationOptions }) {
    const span = await parseSpan(store, organizationId, walletId ?? undefined, paginationOptions);
    if (walletId && (await findWallet(store, organizationId, walletId)) === undefined) {
      throw new Fault("not_found", `unable to find wallet ${walletId} in organization ${organizationId}`);
    }
    const rows = await listAccounts(store, organizationId, walletId ?? undefined, span);
    const walletIds = includeWalletDetails === true ? new Set(rows.map((row) => row.wallet_id)) : [];
    const wallets = await loadWallets(store, organizationId, [...walletIds]);
    return { accounts: rows.map((row) => walletAccountView(row, wallets.get(row.wallet_id))) };
  },
});

/** Cursors are ids of accounts in this very list; what they stand for is their places in it. */
async function parseSpan(
  store: Store,
  organizationId: string,
  walletId: string | undefined,
  options: PaginationOptions | undefined,
): Promise<Span> {
  if (options === undefined || options === null) return { limit: withoutPages };
  const { limit, before, after } = parsePagination(options);
  const placeOf = async (cursor: string | undefined) => {
    if (cursor === undefined) return undefined;
    const account = await findAccount(store, organizationId, cursor);
    if (account === undefined || (walletId !== undefined && account.wallet_id !== walletId))
      throw unknownCursor(cursor);
    return account.sort_key;
  };
  return { limit, before: await placeOf(before), after: await placeOf(after) };
}
