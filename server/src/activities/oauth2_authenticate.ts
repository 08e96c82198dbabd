import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { oauth2AuthenticateParams } from "../fields/oauth2_authenticate.ts";
import { Type } from "../fields/schema.ts";
import { authenticateAtProvider } from "../rules/oauth2_authentication.ts";

/**
 * Signs a user in at an OAuth 2.0 provider. The token that comes of it is one of our own, for `oauth_login`, sign-up and
 * `create_oauth_providers`. Nothing of the organization changes, however many sign in.
 */
export const oauth2Authenticate = defineActivity({
  path: "oauth2_authenticate",
  type: "ACTIVITY_TYPE_OAUTH2_AUTHENTICATE",
  intentKey: "oauth2AuthenticateIntent",
  resultKey: "oauth2AuthenticateResult",
  summary: "Sign a user in at an OAuth 2.0 provider and get an identity token",
  params: oauth2AuthenticateParams,
  result: Type.Object({
    oidcToken: Type.String({
      description: "Identity token that says who has signed in; empty once it is over, and to everybody else.",
    }),
  }),
  cost: () => 2 * unitCosts.bundle + unitCosts.sign.CURVE_P256,
  sealed: true,
  pure: true,
  neverWaits: true,
  // The token's end is kept beside it, because rows show neither the token nor what is in it.
  bearer: { field: "oidcToken", endsAtMs: ({ tokenEndsAtMs }) => Number(tokenEndsAtMs), onlyForSameBytes: true },
  bearerParams: { authCode: "authorizationCode", codeVerifier: "authorizationCode" },
  answer: ({ oidcToken }) => ({ oidcToken }),
  state: ({ oauth2Credentials, importTargets }) => ({ oauth2Credentials, importTargets }),
  run(state, params, context) {
    return { changes: [], result: authenticateAtProvider(state, params, context) };
  },
});
