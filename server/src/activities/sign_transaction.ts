import { costOfTransaction } from "../endpoints/cost.ts";
import { defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { privateKeyUuid } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { signWith, transactionType, unsignedTransaction } from "../fields/signing.ts";
import { signTransactionText } from "../rules/transactions.ts";

/** Before wallets: only private keys signed, by their ids. An address of an account is refused: policies may tell by the type what signs. */
const v1 = defineVersion({
  type: "ACTIVITY_TYPE_SIGN_TRANSACTION",
  intentKey: "signTransactionIntent",
  resultKey: "signTransactionResult",
  params: Type.Object({ privateKeyId: privateKeyUuid, unsignedTransaction, type: transactionType }),
  translate: ({ privateKeyId, unsignedTransaction, type }) => ({ signWith: privateKeyId, unsignedTransaction, type }),
});

/** Signs a transaction and gives it back with the signature where its chain wants it. A PSBT is not finalized. */
export const signTransaction = defineActivity({
  path: "sign_transaction",
  type: "ACTIVITY_TYPE_SIGN_TRANSACTION_V2",
  intentKey: "signTransactionIntentV2",
  resultKey: "signTransactionResult",
  summary: "Sign a transaction",
  params: Type.Object({ signWith, unsignedTransaction, type: transactionType }),
  result: Type.Object({ signedTransaction: Type.String({ description: "In hex, without `0x`." }) }),
  versions: [v1],
  pure: true,
  sealed: true,
  records: ({ signWith }) => [{ by: "signWith", signWith }],
  cost: costOfTransaction,
  state: () => undefined,
  policySubject: ({ signWith }) => ({ by: "signWith", signWith }),
  *run(_, params, context) {
    return { changes: [], result: { signedTransaction: yield* signTransactionText(context, params) } };
  },
});
