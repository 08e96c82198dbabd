import { costOfAccounts, unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { optional } from "../fields/credentials.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { addresses, walletAccounts } from "../fields/wallets.ts";
import { getWallet } from "../rules/keys.ts";
import {
  accountWishes,
  deriveAddresses,
  newAccounts,
  openSeed,
  parseAccounts,
  refuseRepeatedAccounts,
  refuseTakenAccountNames,
  refuseTakenPlaces,
} from "../rules/wallets.ts";

const params = Type.Object({
  walletId: id,
  accounts: walletAccounts,
  persist: optional(Type.Boolean({ description: "False to be told the addresses alone, and store nothing." })),
});

/** Derives accounts of a wallet: all of them, or none. */
export const createWalletAccounts = defineActivity({
  path: "create_wallet_accounts",
  type: "ACTIVITY_TYPE_CREATE_WALLET_ACCOUNTS",
  intentKey: "createWalletAccountsIntent",
  resultKey: "createWalletAccountsResult",
  summary: "Derive accounts of a wallet",
  params,
  result: Type.Object({ addresses }),
  cost: ({ accounts }) => unitCosts.seed + costOfAccounts(accounts),
  state: () => undefined,
  // What is not stored stands in nobody's way.
  records: ({ walletId, accounts, persist }) => accountWishes(walletId, persist === false ? [] : accounts),
  *run(_state, { walletId, accounts, persist }, context) {
    const { keys, organizationId } = context;
    const wallet = getWallet(keys, organizationId, walletId);
    const asked = parseAccounts(accounts);
    if (persist !== false) {
      refuseTakenPlaces(keys, walletId, asked);
      refuseTakenAccountNames(keys, accounts);
      refuseRepeatedAccounts(asked);
    }
    const seed = openSeed(keys, wallet);
    try {
      if (persist === false) return { changes: [], result: { addresses: yield* deriveAddresses(keys, seed, asked) } };
      const { addresses, records } = yield* newAccounts(context, wallet, seed, asked);
      return { changes: [], records, result: { addresses } };
    } finally {
      seed.fill(0);
    }
  },
});
