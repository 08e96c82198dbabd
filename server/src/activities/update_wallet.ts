import { defineActivity } from "../endpoints/define_activity.ts";
import { optional } from "../fields/credentials.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { walletName } from "../fields/wallets.ts";
import { changedFacts, getWallet, refuseTakenName } from "../rules/keys.ts";
import { put } from "../state/entities.ts";
import type { RecordWish } from "../state/record_wish.ts";

/** Renames a wallet. Without a name there is nothing to do. */
export const updateWallet = defineActivity({
  path: "update_wallet",
  type: "ACTIVITY_TYPE_UPDATE_WALLET",
  intentKey: "updateWalletIntent",
  resultKey: "updateWalletResult",
  summary: "Rename a wallet",
  params: Type.Object({ walletId: id, walletName: optional(walletName) }),
  result: Type.Object({ walletId: id }),
  state: () => undefined,
  records: ({ walletId, walletName }): RecordWish[] => [
    { by: "id", kind: "wallet", id: walletId },
    ...(walletName ? [{ by: "name", kind: "wallet", name: walletName } as const] : []),
  ],
  run(_state, { walletId, walletName }, { keys, organizationId, nowMs }) {
    const wallet = getWallet(keys, organizationId, walletId);
    if (!walletName) return { changes: [], result: { walletId } };
    refuseTakenName(keys, "wallet", walletName, { except: walletId });
    return {
      changes: [put("keyFacts", changedFacts(keys, wallet, { name: walletName }, nowMs))],
      result: { walletId },
    };
  },
});
