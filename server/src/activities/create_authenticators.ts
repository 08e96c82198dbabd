import { costOfUsers } from "../endpoints/cost.ts";
import { defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { authenticatorParams, authenticatorParamsV1, fromAuthenticatorV1 } from "../fields/credentials.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { newAuthenticator, refusePasskeysByCount, withAuthenticators } from "../rules/authenticators.ts";
import { refuseKnownCredentials } from "../rules/credentials.ts";
import { put } from "../state/entities.ts";
import { getUser } from "../state/members.ts";

const some = { minItems: 1, maxItems: 100 };

/** The first form repeats what a browser hands out. */
const v1 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_AUTHENTICATORS",
  intentKey: "createAuthenticatorsIntent",
  resultKey: "createAuthenticatorsResult",
  params: Type.Object({ authenticators: Type.Array(authenticatorParamsV1, some), userId: id }),
  translate: ({ authenticators, userId }) => ({ authenticators: authenticators.map(fromAuthenticatorV1), userId }),
});

/** Adds passkeys to a user: all of them, or none. */
export const createAuthenticators = defineActivity({
  path: "create_authenticators",
  type: "ACTIVITY_TYPE_CREATE_AUTHENTICATORS_V2",
  intentKey: "createAuthenticatorsIntentV2",
  resultKey: "createAuthenticatorsResult",
  summary: "Add passkeys to a user",
  params: Type.Object({ authenticators: Type.Array(authenticatorParams, some), userId: id }),
  result: Type.Object({ authenticatorIds: ids }),
  versions: [v1],
  ownCredentialOf: ({ userId }) => userId,
  cost: ({ authenticators }) => costOfUsers([{ authenticators }]),
  state: ({ members }) => members,
  run(members, { userId, authenticators }, context) {
    const user = getUser(members, context.organizationId, userId);
    refusePasskeysByCount([{ user, authenticators }], context);
    const added = authenticators.map((params) => newAuthenticator(context, params));
    refuseKnownCredentials(
      members,
      added.map((entity) => ({ kind: "authenticator", entity })),
    );
    return {
      changes: [put("user", withAuthenticators(user, added, context))],
      result: { authenticatorIds: added.map(({ authenticatorId }) => authenticatorId) },
    };
  },
});
