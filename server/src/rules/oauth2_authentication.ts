/** A sign-in at an OAuth 2.0 provider: its code is exchanged by the courier, and what came of it becomes a token of our own. */
import { makeCredentialBundle } from "@keystead/core/crypto/bundles.ts";
import { Fault } from "@keystead/core/fault.ts";
import { makeOwnToken } from "@keystead/core/oidc/own_token.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { OwnIssuer } from "../endpoints/order_access.ts";
import type { Oauth2AuthenticateParams } from "../fields/oauth2_authenticate.ts";
import type { Oauth2Answer } from "../outbox/oauth2_order.ts";
import type { Oauth2Credential } from "../state/entities.ts";
import { oauth2Providers } from "../state/oauth2_providers.ts";
import type { Pages } from "../state/pages.ts";
import { parseTarget } from "./exports.ts";
import { getOauth2Credential, openClientSecretOf } from "./oauth2_credentials.ts";

/** How long a token of ours is good for, from the exchange on. */
export const ownTokenSeconds = 600;

export type AuthenticationState = Pick<Pages, "oauth2Credentials" | "importTargets">;

export type OwnToken = { oidcToken: string; tokenEndsAtMs: number };

/** In the published words, which name the fields otherwise. */
const mustBeSet = {
  oauth2CredentialId: "oauth2_credential_id",
  authCode: "auth_code",
  redirectUri: "redirect_uri",
  codeVerifier: "code_verifier",
  nonce: "nonce",
} as const satisfies Partial<Record<keyof Oauth2AuthenticateParams, string>>;

export function authenticateAtProvider(
  state: AuthenticationState,
  params: Oauth2AuthenticateParams,
  context: ActivityContext,
): OwnToken {
  for (const [field, name] of Object.entries(mustBeSet)) {
    if (params[field as keyof typeof mustBeSet] === "") throw new Fault("invalid_argument", `${name} must be set`);
  }
  const credential = getOauth2Credential(state.oauth2Credentials, params.oauth2CredentialId, context);
  const { ownIssuer } = context.orders;
  if (ownIssuer === undefined) {
    throw new Fault("failed_precondition", "this server has no name as an issuer: set KEYSTEAD_PUBLIC_URL");
  }
  const targetKey = params.bearerTokenTargetPublicKey ?? "";
  const target = targetKey === "" ? undefined : parseTarget(state, context, targetKey);
  const { authCode, redirectUri, codeVerifier } = params;
  // What was exchanged for the client that the credential named before is no answer: the token would say that the user has signed in to
  // this one. Client ids are public, and whoever may update a credential could name another organization's.
  const answer = context.orders.exchange(credential, () => {
    const clientSecret = openClientSecretOf(credential, context);
    return { clientSecret, authCode, redirectUri, codeVerifier };
  });
  const encryptedBearerToken = target && bundleOf(context, target, answer);
  return ownTokenOf(ownIssuer, credential, answer, { nonce: params.nonce, encryptedBearerToken });
}

function bundleOf({ keys }: ActivityContext, target: Uint8Array, { bearerToken }: Oauth2Answer): string {
  return makeCredentialBundle(keys.hpke, target, new TextEncoder().encode(bearerToken));
}

/** Its times are those of the exchange: however often it is made of one answer, it ends at one time. */
function ownTokenOf(
  { name, kid, sign }: OwnIssuer,
  { provider, clientId }: Oauth2Credential,
  { userId, exchangedAtMs }: Oauth2Answer,
  { nonce, encryptedBearerToken }: { nonce: string; encryptedBearerToken: string | undefined },
): OwnToken {
  const issuedAtSeconds = Math.floor(exchangedAtMs / 1_000);
  const expiresAtSeconds = issuedAtSeconds + ownTokenSeconds;
  const oidcToken = makeOwnToken({ sign }, kid, {
    issuer: name,
    subject: `${oauth2Providers[provider].subject}:${userId}`,
    audience: clientId,
    nonce,
    issuedAtSeconds,
    expiresAtSeconds,
    ...(encryptedBearerToken !== undefined && { encryptedBearerToken }),
  });
  return { oidcToken, tokenEndsAtMs: expiresAtSeconds * 1_000 };
}
