import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { targetPublicKey } from "../fields/bundles.ts";
import { requiredOidcToken } from "../fields/credentials.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { invalidateExisting, sessionKeyName, sessionSeconds } from "../fields/sessions.ts";
import { checkKeyParams, withBundledKey, withoutKey } from "../rules/bundled_keys.ts";
import { userOfLogin } from "../rules/identity_logins.ts";
import { put } from "../state/entities.ts";

const kind = { type: "CREDENTIAL_TYPE_OAUTH_KEY_P256", name: "Oauth" } as const;

/** The older form of `oauth_login`: the signer makes the session's key and sends it encrypted. The token's nonce names the target key. */
export const oauth = defineActivity({
  path: "oauth",
  type: "ACTIVITY_TYPE_OAUTH",
  intentKey: "oauthIntent",
  resultKey: "oauthResult",
  summary: "Sign in with an OpenID Connect token and get a session whose key is sent encrypted",
  params: Type.Object({
    oidcToken: requiredOidcToken,
    targetPublicKey,
    apiKeyName: sessionKeyName,
    expirationSeconds: sessionSeconds,
    invalidateExisting,
  }),
  result: Type.Object({
    userId: id,
    apiKeyId: id,
    credentialBundle: Type.String({ description: "The session's private key, encrypted to the target public key." }),
  }),
  answer: ({ keyEndsAtMs: _, ...result }) => withoutKey(result),
  bearer: { field: "credentialBundle", endsAtMs: ({ keyEndsAtMs }) => Number(keyEndsAtMs), onlyForSameBytes: true },
  bearerParams: { oidcToken: "identityToken" },
  openToParent: true,
  neverWaits: true,
  sealed: true,
  makesSession: () => ({ sessionProfileId: undefined }),
  cost: () => unitCosts.identityToken + unitCosts.keyPair.CURVE_P256 + unitCosts.bundle,
  state: ({ members, importTargets }) => ({ members, importTargets }),
  run(state, params, context) {
    const owner = userOfLogin(state.members, params.oidcToken, params.targetPublicKey, context);
    const checked = checkKeyParams(state, params, context);
    const { user, ...made } = withBundledKey(owner, kind, params, checked, context);
    return {
      changes: [put("user", user)],
      result: { userId: user.userId, ...made, keyEndsAtMs: checked.expiresAtMs },
    };
  },
});
