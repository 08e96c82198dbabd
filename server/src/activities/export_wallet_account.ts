import { Fault } from "@keystead/core/fault.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { exportBundle, targetPublicKey } from "../fields/bundles.ts";
import { Type } from "../fields/schema.ts";
import { exportSecret, exportStateOf } from "../rules/exports.ts";
import { changedFacts, findAccountByAddress } from "../rules/keys.ts";
import { put } from "../state/entities.ts";

const address = Type.String({ minLength: 1, maxLength: 256, description: "Address of the wallet account." });

/** Hands out the private key of one account, 32 bytes on every curve. Its wallet does not count as exported by that. */
export const exportWalletAccount = defineActivity({
  path: "export_wallet_account",
  type: "ACTIVITY_TYPE_EXPORT_WALLET_ACCOUNT",
  intentKey: "exportWalletAccountIntent",
  resultKey: "exportWalletAccountResult",
  summary: "Export the private key of a wallet account, encrypted to a key of the client's",
  params: Type.Object({ address, targetPublicKey }),
  result: Type.Object({ address, exportBundle }),
  state: exportStateOf,
  records: ({ address }) => [{ by: "address", address }],
  policySubject: ({ address }) => ({ by: "account", address }),
  sealed: true,
  run(state, { address, targetPublicKey }, context) {
    const { keys, nowMs } = context;
    const account = findAccountByAddress(keys, address);
    if (account === undefined) {
      throw new Fault("not_found", `Could not find wallet account with address: ${address}`);
    }
    const exportBundle = exportSecret(state, context, account, targetPublicKey);
    return {
      changes: [put("keyFacts", changedFacts(keys, account, { exported: true }, nowMs))],
      result: { address, exportBundle },
    };
  },
});
