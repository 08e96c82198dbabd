import { isUuid } from "@keystead/core/encoding/uuid.ts";
import { Fault } from "@keystead/core/fault.ts";
import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import type { KeyAccess } from "../endpoints/key_access.ts";
import { optional } from "../fields/credentials.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { deletedFacts, findAccount } from "../rules/keys.ts";
import { put } from "../state/entities.ts";
import type { WalletAccountRecord } from "../state/records.ts";

const params = Type.Object({
  walletAccountIds: Type.Array(id, { minItems: 1, maxItems: 1_000 }),
  deleteWithoutExport: optional(Type.Boolean({ description: "Whether to delete what nobody has exported." })),
});

/** Deletes accounts: all of them, or none. Their wallet stays, and can derive them anew. */
export const deleteWalletAccounts = defineActivity({
  path: "delete_wallet_accounts",
  type: "ACTIVITY_TYPE_DELETE_WALLET_ACCOUNTS",
  intentKey: "deleteWalletAccountsIntent",
  resultKey: "deleteWalletAccountsResult",
  summary: "Delete accounts of wallets",
  params,
  result: Type.Object({ walletAccountIds: ids }),
  cost: ({ walletAccountIds }) => walletAccountIds.length * unitCosts.oldRecord,
  state: () => undefined,
  records: ({ walletAccountIds }) => walletAccountIds.map((id) => ({ by: "id", kind: "walletAccount", id })),
  run(_state, { walletAccountIds, deleteWithoutExport }, { keys, nowMs }) {
    const accounts = [...new Set(walletAccountIds)].map((walletAccountId) => getAccount(keys, walletAccountId));
    for (const account of accounts) {
      if (deleteWithoutExport === true || isExported(keys, account)) continue;
      throw new Fault(
        "invalid_argument",
        `wallet account has not been exported: \`${account.walletAccountId}\`; export it first, or set deleteWithoutExport`,
        {
          errorCode: "WALLET_ACCOUNT_NOT_EXPORTED",
        },
      );
    }
    return {
      changes: accounts.map((account) => put("keyFacts", deletedFacts(account, nowMs))),
      result: { walletAccountIds: accounts.map(({ walletAccountId }) => walletAccountId) },
    };
  },
});

/** Whoever has the wallet's words has all its accounts. */
function isExported(keys: KeyAccess, { walletAccountId, walletId }: WalletAccountRecord): boolean {
  return keys.factsOf(walletAccountId)?.exported === true || keys.factsOf(walletId)?.exported === true;
}

function getAccount(keys: KeyAccess, walletAccountId: string): WalletAccountRecord {
  if (!isUuid(walletAccountId)) {
    throw new Fault("invalid_argument", `invalid wallet account UUID: \`${walletAccountId}\``);
  }
  const account = findAccount(keys, walletAccountId);
  if (account === undefined) {
    throw new Fault("invalid_argument", `wallet account not part of your organization: \`${walletAccountId}\``);
  }
  return account;
}
