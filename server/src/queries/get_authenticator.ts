import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { id, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { authenticator } from "../fields/user.ts";
import { findAuthenticator } from "../store/users.ts";
import { authenticatorView } from "../views/user_view.ts";

export const getAuthenticator = defineQuery({
  path: "get_authenticator",
  summary: "Get one passkey",
  request: Type.Object({ organizationId, authenticatorId: id }),
  response: Type.Object({ authenticator }),
  async run(store, _caller, { organizationId, authenticatorId }) {
    const found = await findAuthenticator(store, organizationId, authenticatorId);
    if (found === undefined) {
      throw new Fault("not_found", `unable to find authenticator ${authenticatorId} in organization ${organizationId}`);
    }
    return { authenticator: authenticatorView(found) };
  },
});
