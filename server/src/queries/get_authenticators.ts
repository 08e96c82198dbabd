import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { id, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { authenticator } from "../fields/user.ts";
import { findUser } from "../store/users.ts";
import { authenticatorView } from "../views/user_view.ts";

export const getAuthenticators = defineQuery({
  path: "get_authenticators",
  summary: "List the passkeys of a user",
  request: Type.Object({ organizationId, userId: id }),
  response: Type.Object({ authenticators: Type.Array(authenticator) }),
  async run(store, _caller, { organizationId, userId }) {
    const user = await findUser(store, organizationId, userId);
    if (user === undefined) {
      throw new Fault("not_found", `unable to find user ${userId} in organization ${organizationId}`);
    }
    return { authenticators: (user.authenticators ?? []).map(authenticatorView) };
  },
});
