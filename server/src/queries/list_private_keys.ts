import { defineQuery } from "../endpoints/define_query.ts";
import { organizationId } from "../fields/ids.ts";
import { privateKey } from "../fields/private_keys.ts";
import { Type } from "../fields/schema.ts";
import { mapWithBreaths } from "../store/breaths.ts";
import { listPrivateKeys as listStoredKeys } from "../store/private_keys.ts";
import { privateKeyView } from "../views/private_key_view.ts";

export const listPrivateKeys = defineQuery({
  path: "list_private_keys",
  summary: "List all private keys with their addresses",
  request: Type.Object({ organizationId }),
  response: Type.Object({ privateKeys: Type.Array(privateKey) }),
  run: async (store, _caller, { organizationId }) => ({
    privateKeys: await mapWithBreaths(await listStoredKeys(store, organizationId), privateKeyView),
  }),
});
