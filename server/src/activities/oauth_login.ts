import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { requiredOidcToken } from "../fields/credentials.ts";
import { Type } from "../fields/schema.ts";
import { invalidateExisting, sessionProfileId, sessionPublicKey, sessionSeconds } from "../fields/sessions.ts";
import { userOfLogin } from "../rules/identity_logins.ts";
import { namedProfileId } from "../rules/session_profiles.ts";
import { sessionToken, withLogin } from "../rules/sessions.ts";
import { put } from "../state/entities.ts";

/** Signs in the user whose identity a token names. Usually the parent's server asks for it, for a user of a sub-organization. */
export const oauthLogin = defineActivity({
  path: "oauth_login",
  type: "ACTIVITY_TYPE_OAUTH_LOGIN",
  intentKey: "oauthLoginIntent",
  resultKey: "oauthLoginResult",
  summary: "Sign a user in with an OpenID Connect token and get a session",
  params: Type.Object({
    oidcToken: requiredOidcToken,
    publicKey: sessionPublicKey,
    expirationSeconds: sessionSeconds,
    invalidateExisting,
    sessionProfileId,
  }),
  result: Type.Object({
    session: Type.String({ description: "Signed token that says whose session it is and until when." }),
  }),
  openToParent: true,
  makesSession: ({ sessionProfileId }) => ({ sessionProfileId: namedProfileId(sessionProfileId) }),
  cost: () => unitCosts.identityToken + unitCosts.publicKey + unitCosts.sign.CURVE_P256,
  sealed: true,
  bearer: { field: "session", endsAtMs: ({ sessionEndsAtMs }) => Number(sessionEndsAtMs), onlyForSameBytes: true },
  bearerParams: { oidcToken: "identityToken" },
  answer: ({ session }) => ({ session }),
  // A token that waited for approvals would lie about for its whole life, and its user with it.
  neverWaits: true,
  state: ({ members }) => members,
  run(members, params, context) {
    const owner = userOfLogin(members, params.oidcToken, params.publicKey, context);
    const { user, ...login } = withLogin(members, owner, params, context);
    return {
      changes: [put("user", user)],
      result: {
        session: sessionToken(context, { userId: owner.userId, ...login }),
        sessionEndsAtMs: login.expiresAtMs,
      },
    };
  },
});
