import { Fault } from "@keystead/core/fault.ts";
import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { refuseLockOut } from "../rules/quorum.ts";
import { withoutEndedMarks } from "../state/contacts.ts";
import { keptCredentialsOf, withCredentials } from "../state/credentials.ts";
import { put } from "../state/entities.ts";
import { getUser } from "../state/members.ts";

/** Removes identities of a user at other issuers: all of them, or none. A user keeps a way to sign in, a root user one that lasts. */
export const deleteOauthProviders = defineActivity({
  path: "delete_oauth_providers",
  type: "ACTIVITY_TYPE_DELETE_OAUTH_PROVIDERS",
  intentKey: "deleteOauthProvidersIntent",
  resultKey: "deleteOauthProvidersResult",
  summary: "Unlink a user from identities at OpenID Connect providers",
  params: Type.Object({ userId: id, providerIds: Type.Array(id, { minItems: 1, maxItems: 1_000 }) }),
  result: Type.Object({ providerIds: ids }),
  mayEndCaller: true,
  ownCredentialOf: ({ userId }) => userId,
  cost: ({ providerIds }) => providerIds.length * unitCosts.entry,
  state: ({ members, settings }) => ({ members, settings }),
  run({ members, settings }, { userId, providerIds }, { organizationId, nowMs }) {
    const user = getUser(members, organizationId, userId);
    const doomed = new Set(providerIds);
    for (const providerId of doomed) {
      if (!user.oauthProviders?.some((provider) => provider.providerId === providerId)) {
        throw new Fault("not_found", `unable to find oauth provider ${providerId} of user ${userId}`);
      }
    }
    const kept = keptCredentialsOf(user).filter(
      (each) => each.kind !== "oauthProvider" || !doomed.has(each.entity.providerId),
    );
    const left = { ...withoutEndedMarks(withCredentials(user, kept)), updatedAtMs: nowMs };
    refuseLockOut(members, { user, settings }, { user: left, settings }, nowMs);
    return { changes: [put("user", left)], result: { providerIds: [...doomed] } };
  },
});
