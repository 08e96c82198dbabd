import { Fault } from "@keystead/core/fault.ts";
import { curveNames } from "@keystead/core/keys/key_curves.ts";
import { pathKey } from "@keystead/core/keys/path.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { optional } from "../fields/credentials.ts";
import { id, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { walletAccount } from "../fields/wallets.ts";
import type { Store } from "../store/store.ts";
import { findAccountsByAddress, findAccountsByPath, type WalletAccountRow } from "../store/wallets.ts";
import { walletAccountView } from "../views/wallet_view.ts";

/** Finds an account of a wallet by its address or its path, in any spelling. Both together must mean one account. */
export const getWalletAccount = defineQuery({
  path: "get_wallet_account",
  summary: "Get one account of a wallet, by address or path",
  request: Type.Object({
    organizationId,
    walletId: id,
    address: optional(Type.String({ maxLength: 1_000, description: "Address of the account." })),
    path: optional(Type.String({ maxLength: 1_000, description: "Path of the account." })),
  }),
  response: Type.Object({ account: walletAccount }),
  inSnapshot: true,
  async run(store, _caller, { organizationId, walletId, address, path }) {
    if (!address && !path) throw new Fault("invalid_argument", "invalid request body: missing field `address`");
    const byAddress = address ? await findAccountsByAddress(store, organizationId, walletId, address) : undefined;
    const byPath = path ? await findOnCurves(store, organizationId, walletId, path) : undefined;
    const [account] = both(byAddress, byPath);
    if (account === undefined) {
      const sought = address ? `address: ${address}` : `path: ${path}`;
      throw new Fault("not_found", `Could not find wallet account with ${sought}`);
    }
    return { account: walletAccountView(account) };
  },
});

/** What a path means depends on the curve. Several formats may stand at one path: as it was written first, then the oldest. */
async function findOnCurves(store: Store, organizationId: string, walletId: string, path: string) {
  const found = await Promise.all(
    curveNames.map((curve) => findAccountsByPath(store, organizationId, walletId, pathKey(curve, path), curve)),
  );
  const rank = (account: WalletAccountRow) => `${account.path === path ? 0 : 1}${account.sort_key}`;
  return found.flat().sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

function both(byAddress: WalletAccountRow[] | undefined, byPath: WalletAccountRow[] | undefined): WalletAccountRow[] {
  if (byAddress === undefined || byPath === undefined) return byAddress ?? byPath ?? [];
  const ids = new Set(byAddress.map((account) => account.wallet_account_id));
  return byPath.filter((account) => ids.has(account.wallet_account_id));
}
