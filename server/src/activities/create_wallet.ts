import { costOfAccounts, unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { checkLimit } from "../endpoints/limits.ts";
import { walletParams, walletResult } from "../fields/wallets.ts";
import { generateWallet, parseAccounts, refuseTakenWalletNames, walletWishes } from "../rules/wallets.ts";
import { put } from "../state/entities.ts";

/** Creates a wallet with a new mnemonic, and accounts of it. Without accounts it is a mnemonic for later. */
export const createWallet = defineActivity({
  path: "create_wallet",
  type: "ACTIVITY_TYPE_CREATE_WALLET",
  intentKey: "createWalletIntent",
  resultKey: "createWalletResult",
  summary: "Create a wallet and derive accounts",
  params: walletParams,
  result: walletResult,
  cost: ({ accounts }) => unitCosts.seed + costOfAccounts(accounts),
  state: ({ keyCounts }) => keyCounts,
  records: walletWishes,
  *run(counts, params, context) {
    const accounts = parseAccounts(params.accounts);
    checkLimit("wallets", counts.wallets + 1, context);
    refuseTakenWalletNames(context.keys, params);
    const { organizationId } = context;
    const { walletId, addresses, records } = yield* generateWallet(context, organizationId, params, accounts);
    return {
      changes: [put("keyCounts", { ...counts, wallets: counts.wallets + 1 })],
      records,
      result: { walletId, addresses },
    };
  },
});
