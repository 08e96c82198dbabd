import { Fault } from "@keystead/core/fault.ts";
import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { optional } from "../fields/credentials.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { countWithout } from "../rules/key_counts.ts";
import { deletedFacts, getWallet } from "../rules/keys.ts";
import { put } from "../state/entities.ts";

const params = Type.Object({
  walletIds: Type.Array(id, { minItems: 1, maxItems: 1_000 }),
  deleteWithoutExport: optional(Type.Boolean({ description: "Whether to delete what nobody has exported." })),
});

/** Deletes wallets with all their accounts: all of them, or none. Nothing brings a mnemonic back that was not exported. */
export const deleteWallets = defineActivity({
  path: "delete_wallets",
  type: "ACTIVITY_TYPE_DELETE_WALLETS",
  intentKey: "deleteWalletsIntent",
  resultKey: "deleteWalletsResult",
  summary: "Delete wallets with their accounts",
  params,
  result: Type.Object({ walletIds: ids }),
  cost: ({ walletIds }) => walletIds.length * unitCosts.oldRecord,
  state: ({ keyCounts }) => keyCounts,
  records: ({ walletIds }) => walletIds.map((id) => ({ by: "id", kind: "wallet", id })),
  policySubject: ({ walletIds }) => ({ by: "wallets", walletIds }),
  run(counts, { walletIds, deleteWithoutExport }, { keys, organizationId, nowMs }) {
    const wallets = [...new Set(walletIds)].map((walletId) => getWallet(keys, organizationId, walletId));
    for (const { walletId } of wallets) {
      if (deleteWithoutExport === true || keys.factsOf(walletId)?.exported === true) continue;
      throw new Fault(
        "invalid_argument",
        `wallet has not been exported: \`${walletId}\`; export it first, or set deleteWithoutExport`,
      );
    }
    return {
      changes: [
        ...wallets.map((wallet) => put("keyFacts", deletedFacts(wallet, nowMs))),
        countWithout(counts, keys, wallets),
      ],
      result: { walletIds: wallets.map(({ walletId }) => walletId) },
    };
  },
});
