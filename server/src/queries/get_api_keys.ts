import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { optional } from "../fields/credentials.ts";
import { id, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { apiKey } from "../fields/user.ts";
import type { ApiKey } from "../state/entities.ts";
import { mapWithBreaths } from "../store/breaths.ts";
import type { Store } from "../store/store.ts";
import { findUser, listApiKeys } from "../store/users.ts";
import { apiKeyView } from "../views/user_view.ts";

/** Lists the API keys of one user, or of all users of the organization. Expired ones are listed until they are removed. */
export const getApiKeys = defineQuery({
  path: "get_api_keys",
  summary: "List the API keys of a user, or of all users",
  request: Type.Object({ organizationId, userId: optional(id) }),
  response: Type.Object({ apiKeys: Type.Array(apiKey) }),
  async run(store, _caller, { organizationId, userId }) {
    const found = await (userId ? keysOf(store, organizationId, userId) : listApiKeys(store, organizationId));
    return { apiKeys: await mapWithBreaths(found, apiKeyView) };
  },
});

async function keysOf(store: Store, organizationId: string, userId: string): Promise<readonly ApiKey[]> {
  const user = await findUser(store, organizationId, userId);
  if (user === undefined) {
    throw new Fault("not_found", `unable to find user ${userId} in organization ${organizationId}`);
  }
  return user.apiKeys;
}
