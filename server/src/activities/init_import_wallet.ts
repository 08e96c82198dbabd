import { defineActivity } from "../endpoints/define_activity.ts";
import { importBundle } from "../fields/bundles.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { importStateOf, startImport } from "../rules/imports.ts";

/** Gives its caller a key to encrypt one wallet to, for an hour. The bundle is no secret. */
export const initImportWallet = defineActivity({
  path: "init_import_wallet",
  type: "ACTIVITY_TYPE_INIT_IMPORT_WALLET",
  intentKey: "initImportWalletIntent",
  resultKey: "initImportWalletResult",
  summary: "Get a public key to encrypt the import of a wallet to",
  params: Type.Object({ userId: id }),
  result: Type.Object({ importBundle }),
  ownActOf: ({ userId }) => userId,
  state: importStateOf,
  run(state, { userId }, context) {
    const { changes, importBundle } = startImport(state, "wallet", userId, context);
    return { changes, result: { importBundle } };
  },
});
