import { Fault } from "@keystead/core/fault.ts";
import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { refuseLockOut } from "../rules/quorum.ts";
import { quorumAccess, refuseShutOut } from "../rules/quorum_origins.ts";
import { put } from "../state/entities.ts";
import { getUser } from "../state/members.ts";

/** Deletes API keys of a user: all of them, or none. A user keeps a way to sign in, a root user one that lasts. */
export const deleteApiKeys = defineActivity({
  path: "delete_api_keys",
  type: "ACTIVITY_TYPE_DELETE_API_KEYS",
  intentKey: "deleteApiKeysIntent",
  resultKey: "deleteApiKeysResult",
  summary: "Delete API keys of a user",
  params: Type.Object({ userId: id, apiKeyIds: Type.Array(id, { minItems: 1, maxItems: 1_000 }) }),
  result: Type.Object({ apiKeyIds: ids }),
  mayEndCaller: true,
  ownCredentialOf: ({ userId }) => userId,
  cost: ({ apiKeyIds }) => apiKeyIds.length * unitCosts.entry,
  state: ({ members, settings }) => ({ members, settings }),
  run({ members, settings }, { userId, apiKeyIds }, context) {
    const { organizationId, nowMs } = context;
    const user = getUser(members, organizationId, userId);
    const doomed = new Set(apiKeyIds);
    for (const apiKeyId of doomed) {
      if (!user.apiKeys.some((key) => key.apiKeyId === apiKeyId)) {
        throw new Fault("not_found", `unable to find api key ${apiKeyId} of user ${userId}`);
      }
    }
    const left = { ...user, apiKeys: user.apiKeys.filter((key) => !doomed.has(key.apiKeyId)), updatedAtMs: nowMs };
    refuseLockOut(members, { user, settings }, { user: left, settings }, nowMs);
    const origins = () => context.allowedOrigins();
    refuseShutOut(context, quorumAccess(members, origins), quorumAccess(members, origins, { user: left }));
    return { changes: [put("user", left)], result: { apiKeyIds: [...doomed] } };
  },
});
