import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { id, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { user } from "../fields/user.ts";
import { findUser } from "../store/users.ts";
import { userView } from "../views/user_view.ts";

export const getUser = defineQuery({
  path: "get_user",
  summary: "Get one user with its credentials",
  request: Type.Object({ organizationId, userId: id }),
  response: Type.Object({ user }),
  async run(store, _caller, { organizationId, userId }) {
    const found = await findUser(store, organizationId, userId);
    if (found === undefined) {
      throw new Fault("not_found", `unable to find user ${userId} in organization ${organizationId}`);
    }
    return { user: userView(found) };
  },
});
