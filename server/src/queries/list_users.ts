import { defineQuery } from "../endpoints/define_query.ts";
import { organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { user } from "../fields/user.ts";
import { mapWithBreaths } from "../store/breaths.ts";
import { listUsers as listStoredUsers } from "../store/users.ts";
import { userView } from "../views/user_view.ts";

export const listUsers = defineQuery({
  path: "list_users",
  summary: "List all users with their credentials",
  request: Type.Object({ organizationId }),
  response: Type.Object({ users: Type.Array(user) }),
  run: async (store, _caller, { organizationId }) => ({
    users: await mapWithBreaths(await listStoredUsers(store, organizationId), userView),
  }),
});
