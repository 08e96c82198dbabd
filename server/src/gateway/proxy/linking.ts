/**
 * Somebody who is known below by a verified e-mail address signs in with an identity at another issuer for the first time. Where the issuer's
 * word about addresses counts (KEYSTEAD_OIDC_LINKING) and the application is one of `socialLinkingClientIds`, the identity becomes that
 * user's. The gateway looks for the user and asks; the signer verifies token, address, issuer and application itself.
 */
import { Fault, faultCodes } from "@keystead/core/fault.ts";
import type { IdentityClaims } from "@keystead/core/oidc/identity_claims.ts";
import { clientAt, linkingClients, namedClients } from "../../rules/auth_proxy.ts";
import { linkedProviders } from "../../rules/auth_proxy_types.ts";
import { vouchedEmail } from "../../rules/oauth_providers.ts";
import { findVerifiedInSubOrganizations } from "../../store/across.ts";
import type { CallerRow } from "../../store/organizations.ts";
import type { SubmitDependencies } from "../submit/submit_dependencies.ts";
import type { ProxyConfig } from "./proxy_configs.ts";
import { ProxyFailure, submitAsProxy } from "./proxy_submit.ts";

export type LinkingDependencies = SubmitDependencies & {
  /** Issuers whose word about an e-mail address counts as that of its owner. */
  linkingIssuers: ReadonlySet<string>;
};

/**
 * The address that the signer takes for its owner's: an issuer's whose word counts, in a token for an application that the organization has
 * named. A token for any other was asked for by somebody else.
 */
export function ownVouchedEmail(
  { linkingIssuers }: Pick<LinkingDependencies, "linkingIssuers">,
  { settings }: Pick<ProxyConfig, "settings">,
  claims: IdentityClaims,
): string | undefined {
  const isOwn = namedClients(settings, linkingIssuers).includes(clientAt(claims));
  return isOwn ? vouchedEmail(claims, linkingIssuers) : undefined;
}

/** The users below whose address a verified token vouches for, where the configuration lets such tokens link. */
export async function findLinkable(
  { store, linkingIssuers }: Pick<LinkingDependencies, "store" | "linkingIssuers">,
  { organizationId, settings }: ProxyConfig,
  claims: IdentityClaims,
): Promise<CallerRow[]> {
  const contact = vouchedEmail(claims, linkingIssuers);
  if (contact === undefined || !linkingClients(settings, linkingIssuers).includes(clientAt(claims))) return [];
  return findVerifiedInSubOrganizations(store, organizationId, { kind: "email", contact });
}

/** From now on the user signs in with this identity. Of two first sign-ins at once, the second finds it done. */
export async function linkIdentity(
  dependencies: SubmitDependencies,
  config: ProxyConfig,
  { organizationId, userId }: { organizationId: string; userId: string },
  oidcToken: string,
): Promise<void> {
  const chosen = { userId, oauthProviders: linkedProviders(oidcToken) };
  try {
    await submitAsProxy(dependencies, config, {
      type: "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2",
      organizationId,
      chosen,
    });
  } catch (error) {
    const isDone =
      (error instanceof ProxyFailure && error.failure.code === faultCodes.already_exists) ||
      (error instanceof Fault && error.code === "already_exists");
    if (!isDone) throw error;
  }
}
