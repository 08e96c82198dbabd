import { costOfUsers } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { authenticatorParams } from "../fields/credentials.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { newAuthenticator, refusePasskeysByCount, withAuthenticators } from "../rules/authenticators.ts";
import { refuseKnownCredentials } from "../rules/credentials.ts";
import { refuseUnlessOn } from "../rules/features.ts";
import { withoutRecoveryKeys } from "../rules/recovery.ts";
import { put } from "../state/entities.ts";
import { getUser } from "../state/members.ts";

/** Registers a passkey with a recovery key of the user's own, which ends by it. */
export const recoverUser = defineActivity({
  path: "recover_user",
  type: "ACTIVITY_TYPE_RECOVER_USER",
  intentKey: "recoverUserIntent",
  resultKey: "recoverUserResult",
  summary: "Register a passkey with the key that a recovery mail brought",
  params: Type.Object({ authenticator: authenticatorParams, userId: id }),
  result: Type.Object({ authenticatorId: ids }),
  mayEndCaller: true,
  byRecoveryKey: true,
  neverWaits: true,
  ownActOf: ({ userId }) => userId,
  ownCredentialOf: ({ userId }) => userId,
  cost: ({ authenticator }) => costOfUsers([{ authenticators: [authenticator] }]),
  state: ({ members, settings }) => ({ members, settings }),
  run({ members, settings }, { userId, authenticator }, context) {
    // Turned off since the mail was sent, it is off for that mail too.
    refuseUnlessOn(settings, "FEATURE_NAME_EMAIL_RECOVERY", context.organizationId);
    const user = getUser(members, context.organizationId, userId);
    refusePasskeysByCount([{ user, authenticators: [authenticator] }], context);
    const added = newAuthenticator(context, authenticator);
    refuseKnownCredentials(members, [{ kind: "authenticator", entity: added }]);
    const recovered = withAuthenticators(withoutRecoveryKeys(user), [added], context);
    return { changes: [put("user", recovered)], result: { authenticatorId: [added.authenticatorId] } };
  },
});
