import { defineQuery } from "../endpoints/define_query.ts";
import { organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { wallet } from "../fields/wallets.ts";
import { mapWithBreaths } from "../store/breaths.ts";
import { listWallets as listStoredWallets } from "../store/wallets.ts";
import { walletView } from "../views/wallet_view.ts";

export const listWallets = defineQuery({
  path: "list_wallets",
  summary: "List all wallets",
  request: Type.Object({ organizationId }),
  response: Type.Object({ wallets: Type.Array(wallet) }),
  run: async (store, _caller, { organizationId }) => ({
    wallets: await mapWithBreaths(await listStoredWallets(store, organizationId), walletView),
  }),
});
