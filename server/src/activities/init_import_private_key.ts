import { defineActivity } from "../endpoints/define_activity.ts";
import { importBundle } from "../fields/bundles.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { importStateOf, startImport } from "../rules/imports.ts";

/** Gives its caller a key to encrypt one private key to, for an hour. The bundle is no secret. */
export const initImportPrivateKey = defineActivity({
  path: "init_import_private_key",
  type: "ACTIVITY_TYPE_INIT_IMPORT_PRIVATE_KEY",
  intentKey: "initImportPrivateKeyIntent",
  resultKey: "initImportPrivateKeyResult",
  summary: "Get a public key to encrypt the import of a private key to",
  params: Type.Object({ userId: id }),
  result: Type.Object({ importBundle }),
  ownActOf: ({ userId }) => userId,
  state: importStateOf,
  run(state, { userId }, context) {
    const { changes, importBundle } = startImport(state, "privateKey", userId, context);
    return { changes, result: { importBundle } };
  },
});
