import { Fault } from "@keystead/core/fault.ts";
import { defineQuery } from "../endpoints/define_query.ts";
import { id, organizationId } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { apiKey } from "../fields/user.ts";
import { findApiKey } from "../store/users.ts";
import { apiKeyView } from "../views/user_view.ts";

export const getApiKey = defineQuery({
  path: "get_api_key",
  summary: "Get one API key",
  request: Type.Object({ organizationId, apiKeyId: id }),
  response: Type.Object({ apiKey }),
  async run(store, _caller, { organizationId, apiKeyId }) {
    const found = await findApiKey(store, organizationId, apiKeyId);
    if (found === undefined) {
      throw new Fault("not_found", `unable to find api key ${apiKeyId} in organization ${organizationId}`);
    }
    return { apiKey: apiKeyView(found) };
  },
});
