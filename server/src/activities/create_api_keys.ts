import { costOfUsers } from "../endpoints/cost.ts";
import { defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { apiKeyParams, apiKeyParamsV1, fromApiKeyV1 } from "../fields/credentials.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { newApiKey, refuseKnownCredentials, withApiKeys } from "../rules/credentials.ts";
import { refuseKeysByText } from "../rules/users.ts";
import { put } from "../state/entities.ts";
import { getUser } from "../state/members.ts";

/** Before keys had curves, all were P-256. */
const v1 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_API_KEYS",
  intentKey: "createApiKeysIntent",
  resultKey: "createApiKeysResult",
  params: Type.Object({ apiKeys: Type.Array(apiKeyParamsV1, { minItems: 1, maxItems: 100 }), userId: id }),
  translate: ({ apiKeys, userId }) => ({ apiKeys: apiKeys.map(fromApiKeyV1), userId }),
});

/** Adds API keys to a user. An eleventh expiring key makes room for itself; an eleventh long-lived one is refused. */
export const createApiKeys = defineActivity({
  path: "create_api_keys",
  type: "ACTIVITY_TYPE_CREATE_API_KEYS_V2",
  intentKey: "createApiKeysIntentV2",
  resultKey: "createApiKeysResult",
  summary: "Add API keys to a user",
  params: Type.Object({ apiKeys: Type.Array(apiKeyParams, { minItems: 1, maxItems: 100 }), userId: id }),
  result: Type.Object({ apiKeyIds: ids }),
  versions: [v1],
  ownCredentialOf: ({ userId }) => userId,
  cost: ({ apiKeys }) => costOfUsers([{ apiKeys }]),
  state: ({ members }) => members,
  run(members, { userId, apiKeys }, context) {
    const user = getUser(members, context.organizationId, userId);
    refuseKeysByText(members, [{ user, apiKeys }], context);
    const added = apiKeys.map((params) => newApiKey(context, params));
    refuseKnownCredentials(
      members,
      added.map((entity) => ({ kind: "apiKey", entity })),
    );
    return {
      changes: [put("user", withApiKeys(user, added, context))],
      result: { apiKeyIds: added.map((key) => key.apiKeyId) },
    };
  },
});
