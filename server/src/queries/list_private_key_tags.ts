import { defineQuery } from "../endpoints/define_query.ts";
import { organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { tag } from "../fields/tag.ts";
import { listPrivateKeyTags as listStoredTags } from "../store/private_keys.ts";
import { privateKeyTagView } from "../views/private_key_view.ts";

export const listPrivateKeyTags = defineQuery({
  path: "list_private_key_tags",
  summary: "List all private key tags",
  request: Type.Object({ organizationId }),
  response: Type.Object({ privateKeyTags: Type.Array(tag) }),
  run: async (store, _caller, { organizationId }) => ({
    privateKeyTags: (await listStoredTags(store, organizationId)).map(privateKeyTagView),
  }),
});
