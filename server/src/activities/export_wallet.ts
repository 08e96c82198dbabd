import { defineActivity } from "../endpoints/define_activity.ts";
import { exportBundle, mnemonicLanguage, targetPublicKey } from "../fields/bundles.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { checkLanguage, exportSecret, exportStateOf, walletText } from "../rules/exports.ts";
import { markExported } from "../rules/key_counts.ts";
import { getWallet } from "../rules/keys.ts";

/** Hands out a wallet's words, and its passphrase if it has one. The wallet stays usable, and counts as exported. */
export const exportWallet = defineActivity({
  path: "export_wallet",
  type: "ACTIVITY_TYPE_EXPORT_WALLET",
  intentKey: "exportWalletIntent",
  resultKey: "exportWalletResult",
  summary: "Export the mnemonic of a wallet, encrypted to a key of the client's",
  params: Type.Object({ walletId: id, targetPublicKey, language: mnemonicLanguage }),
  result: Type.Object({ walletId: id, exportBundle }),
  state: exportStateOf,
  records: ({ walletId }) => [{ by: "id", kind: "wallet", id: walletId }],
  policySubject: ({ walletId }) => ({ by: "wallet", walletId }),
  sealed: true,
  run(state, { walletId, targetPublicKey, language }, context) {
    const { keys, nowMs, organizationId } = context;
    const wallet = getWallet(keys, organizationId, walletId);
    checkLanguage(wallet, language);
    const toText = (secret: Uint8Array) => walletText(context, wallet, secret);
    const exportBundle = exportSecret(state, context, wallet, targetPublicKey, toText);
    return {
      changes: markExported(state.keyCounts, keys, wallet, nowMs),
      result: { walletId, exportBundle },
    };
  },
});
