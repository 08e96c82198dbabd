import { Fault } from "@keystead/core/fault.ts";
import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { refuseLockOut } from "../rules/quorum.ts";
import { quorumAccess, refuseShutOut } from "../rules/quorum_origins.ts";
import { keptCredentialsOf, withCredentials } from "../state/credentials.ts";
import { put } from "../state/entities.ts";
import { getUser } from "../state/members.ts";

/** Deletes passkeys of a user: all of them, or none. A user keeps a way to sign in, a root user one that lasts. */
export const deleteAuthenticators = defineActivity({
  path: "delete_authenticators",
  type: "ACTIVITY_TYPE_DELETE_AUTHENTICATORS",
  intentKey: "deleteAuthenticatorsIntent",
  resultKey: "deleteAuthenticatorsResult",
  summary: "Delete passkeys of a user",
  params: Type.Object({ userId: id, authenticatorIds: Type.Array(id, { minItems: 1, maxItems: 1_000 }) }),
  result: Type.Object({ authenticatorIds: ids }),
  mayEndCaller: true,
  ownCredentialOf: ({ userId }) => userId,
  cost: ({ authenticatorIds }) => authenticatorIds.length * unitCosts.entry,
  state: ({ members, settings }) => ({ members, settings }),
  run({ members, settings }, { userId, authenticatorIds }, context) {
    const { organizationId, nowMs } = context;
    const user = getUser(members, organizationId, userId);
    const doomed = new Set(authenticatorIds);
    for (const authenticatorId of doomed) {
      if (!user.authenticators?.some((passkey) => passkey.authenticatorId === authenticatorId)) {
        throw new Fault("not_found", `unable to find authenticator ${authenticatorId} of user ${userId}`);
      }
    }
    const kept = keptCredentialsOf(user).filter(
      (each) => each.kind !== "authenticator" || !doomed.has(each.entity.authenticatorId),
    );
    const left = { ...withCredentials(user, kept), updatedAtMs: nowMs };
    refuseLockOut(members, { user, settings }, { user: left, settings }, nowMs);
    const origins = () => context.allowedOrigins();
    refuseShutOut(context, quorumAccess(members, origins), quorumAccess(members, origins, { user: left }));
    return { changes: [put("user", left)], result: { authenticatorIds: [...doomed] } };
  },
});
