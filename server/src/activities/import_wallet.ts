import { parseSentence } from "@keystead/core/keys/mnemonic.ts";
import { splitImportText } from "@keystead/core/keys/wallet_text.ts";
import { costOfAccounts, unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { checkLimit } from "../endpoints/limits.ts";
import { encryptedBundle } from "../fields/bundles.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { walletAccounts, walletName, walletResult } from "../fields/wallets.ts";
import { importStateOf, newSentence, openImport } from "../rules/imports.ts";
import {
  newWallet,
  parseAccounts,
  refuseRepeatedAccounts,
  refuseTakenWalletNames,
  walletWishes,
} from "../rules/wallets.ts";
import { put } from "../state/entities.ts";

/** Takes in a mnemonic of any BIP-39 language, with its passphrase if it has one, and derives accounts of it. */
export const importWallet = defineActivity({
  path: "import_wallet",
  type: "ACTIVITY_TYPE_IMPORT_WALLET",
  intentKey: "importWalletIntent",
  resultKey: "importWalletResult",
  summary: "Import a mnemonic that was encrypted to the key of an import bundle",
  params: Type.Object({ userId: id, walletName, encryptedBundle, accounts: walletAccounts }),
  result: walletResult,
  ownActOf: ({ userId }) => userId,
  cost: ({ accounts }) => unitCosts.bundle + unitCosts.seed + costOfAccounts(accounts),
  state: (pages) => ({ ...importStateOf(pages), keyCounts: pages.keyCounts }),
  records: walletWishes,
  *run({ keyCounts, ...state }, params, context) {
    const { keys, organizationId } = context;
    const { walletName } = params;
    // Everything that can be refused without it comes before the secret is in the clear.
    checkLimit("wallets", keyCounts.wallets + 1, context);
    refuseTakenWalletNames(keys, params);
    const accounts = parseAccounts(params.accounts);
    refuseRepeatedAccounts(accounts);
    const { plaintext, changes } = openImport(state, "wallet", params, context, () => newSentence(keys));
    let entropy: Uint8Array | undefined;
    try {
      const { sentence, passphrase } = splitImportText(plaintext);
      const mnemonic = parseSentence(keys.signing.keys, sentence);
      ({ entropy } = mnemonic);
      const secret = passphrase === undefined ? { entropy } : { entropy, passphrase };
      const names = { organizationId, walletName, language: mnemonic.language };
      const draft = { ...names, secret, imported: true, accounts };
      const { walletId, addresses, records } = yield* newWallet(context, draft);
      return {
        changes: [...changes, put("keyCounts", { ...keyCounts, wallets: keyCounts.wallets + 1 })],
        records,
        result: { walletId, addresses },
      };
    } finally {
      plaintext.fill(0);
      entropy?.fill(0);
    }
  },
});
