import { defineQuery } from "../endpoints/define_query.ts";
import { organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { tag } from "../fields/tag.ts";
import { listUserTags as listStoredTags } from "../store/users.ts";
import { userTagView } from "../views/tag_view.ts";

export const listUserTags = defineQuery({
  path: "list_user_tags",
  summary: "List all user tags",
  request: Type.Object({ organizationId }),
  response: Type.Object({ userTags: Type.Array(tag) }),
  run: async (store, _caller, { organizationId }) => ({
    userTags: (await listStoredTags(store, organizationId)).map(userTagView),
  }),
});
