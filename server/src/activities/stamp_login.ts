import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { Type } from "../fields/schema.ts";
import { invalidateExisting, sessionProfileId, sessionPublicKey, sessionSeconds } from "../fields/sessions.ts";
import { namedProfileId } from "../rules/session_profiles.ts";
import { sessionToken, withLogin } from "../rules/sessions.ts";
import { put } from "../state/entities.ts";
import { getUser } from "../state/members.ts";

/** Signs the caller in: a key of the client's speaks for the user until it expires. */
export const stampLogin = defineActivity({
  path: "stamp_login",
  type: "ACTIVITY_TYPE_STAMP_LOGIN",
  intentKey: "stampLoginIntent",
  resultKey: "stampLoginResult",
  summary: "Sign in with a stamp and get a session",
  params: Type.Object({
    publicKey: sessionPublicKey,
    expirationSeconds: sessionSeconds,
    invalidateExisting,
    sessionProfileId,
  }),
  result: Type.Object({
    session: Type.String({ description: "Signed token that says whose session it is and until when." }),
  }),
  findsSubOrganization: true,
  takesAttested: true,
  makesSession: ({ sessionProfileId }) => ({ sessionProfileId: namedProfileId(sessionProfileId) }),
  ownCredentialOf: (_, requesterId) => requesterId,
  cost: () => unitCosts.publicKey + unitCosts.sign.CURVE_P256,
  sealed: true,
  state: ({ members }) => members,
  run(members, params, context) {
    const { organizationId, userId } = context;
    const owner = getUser(members, organizationId, userId);
    const { user, ...login } = withLogin(members, owner, params, context);
    return { changes: [put("user", user)], result: { session: sessionToken(context, { userId, ...login }) } };
  },
});
