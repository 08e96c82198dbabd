import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { optional } from "../fields/credentials.ts";
import { id, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { oauthProvider } from "../fields/user.ts";
import { mapWithBreaths } from "../store/breaths.ts";
import { findUser, listUsers } from "../store/users.ts";
import { oauthProviderView } from "../views/user_view.ts";

export const getOauthProviders = defineQuery({
  path: "get_oauth_providers",
  summary: "List the OpenID Connect identities of a user, or of all users",
  request: Type.Object({ organizationId, userId: optional(id) }),
  response: Type.Object({ oauthProviders: Type.Array(oauthProvider) }),
  async run(store, _caller, { organizationId, userId }) {
    if (!userId) {
      const users = await listUsers(store, organizationId);
      const views = await mapWithBreaths(users, (user) => (user.oauthProviders ?? []).map(oauthProviderView));
      return { oauthProviders: views.flat() };
    }
    const user = await findUser(store, organizationId, userId);
    if (user === undefined) {
      throw new Fault("not_found", `unable to find user ${userId} in organization ${organizationId}`);
    }
    return { oauthProviders: (user.oauthProviders ?? []).map(oauthProviderView) };
  },
});
