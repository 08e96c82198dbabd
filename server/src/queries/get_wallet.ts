import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { id, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { wallet } from "../fields/wallets.ts";
import { findWallet } from "../store/wallets.ts";
import { walletView } from "../views/wallet_view.ts";

export const getWallet = defineQuery({
  path: "get_wallet",
  summary: "Get one wallet",
  request: Type.Object({ organizationId, walletId: id }),
  response: Type.Object({ wallet }),
  async run(store, _caller, { organizationId, walletId }) {
    const found = await findWallet(store, organizationId, walletId);
    if (found === undefined) {
      throw new Fault("not_found", `unable to find wallet ${walletId} in organization ${organizationId}`);
    }
    return { wallet: walletView(found) };
  },
});
