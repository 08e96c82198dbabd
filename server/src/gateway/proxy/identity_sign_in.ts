/** Sign-in through the auth proxy by an identity at another issuer, or at an OAuth 2.0 provider. The signer verifies each token again. */
import { Fault } from "@keystead/core/fault.ts";
import { checkNonce } from "@keystead/core/oidc/identity_token.ts";
import type { IdentityLoginRequest, ProviderSignInRequest } from "../../fields/auth_proxy_requests.ts";
import { refuseDisallowed } from "../../rules/auth_proxy_types.ts";
import { oauth2ProviderOf } from "../../state/oauth2_providers.ts";
import type { CallerRow } from "../../store/organizations.ts";
import { findOrganizationPage } from "../../views/organization_page.ts";
import { verifyIdentity } from "../evidence/read_identity.ts";
import type { SubmitDependencies } from "../submit/submit_dependencies.ts";
import { findLinkable, type LinkingDependencies, linkIdentity } from "./linking.ts";
import type { ProxyConfig } from "./proxy_configs.ts";
import { submitAsProxy } from "./proxy_submit.ts";
import { findIdentity, issuerIdentity } from "./sign_up_identities.ts";

/** `oauth_login`: a session of the user whose identity a token names, or whose verified e-mail address its issuer vouches for. */
export async function signInByIdentity(
  dependencies: LinkingDependencies,
  config: ProxyConfig,
  { organizationId: named, ...chosen }: IdentityLoginRequest,
) {
  const { oidcToken, publicKey } = chosen;
  // Before anybody has its issuer asked.
  refuseDisallowed(["oauth"], config.settings);
  // Only its issuer's word tells whether there is somebody.
  const claims = await verifyIdentity(dependencies.issuers, oidcToken, Date.now());
  const known = await findIdentity(dependencies.store, config.organizationId, issuerIdentity(claims));
  const linkable = known.length > 0 ? [] : await findLinkable(dependencies, config, claims);
  const inNamed = linkable.filter((row) => !named || row.organizationId === named);
  const organizationId = named || onlyOrganization(known.length > 0 ? known : linkable);
  if (inNamed.length > 0) {
    // A sign-in that will be refused links nobody.
    checkNonce(dependencies.curves, claims, publicKey);
    await linkIdentity(dependencies, config, { organizationId, userId: onlyUser(inNamed) }, oidcToken);
  }
  return submitAsProxy(dependencies, config, { type: "ACTIVITY_TYPE_OAUTH_LOGIN", organizationId, chosen });
}

function onlyOrganization(found: readonly CallerRow[]): string {
  const [first, ...others] = new Set(found.map((row) => row.organizationId));
  if (first === undefined) throw unknownIdentity();
  if (others.length > 0) throw severalUsers();
  return first;
}

function onlyUser(found: readonly CallerRow[]): string {
  const [first, ...others] = new Set(found.flatMap(({ credential }) => credential?.userId ?? []));
  if (first === undefined) throw unknownIdentity();
  if (others.length > 0) throw severalUsers();
  return first;
}

function unknownIdentity(): Fault {
  return new Fault("unauthenticated", "could not find a user with the identity of this OIDC token in organization", {
    errorCode: "CREDENTIAL_NOT_FOUND",
  });
}

function severalUsers(): Fault {
  return new Fault("unauthenticated", "more than one user associated with the identity of this OIDC token", {
    errorCode: "CREDENTIAL_CONFLICT",
  });
}

/** The organization's credential of a client at a provider: pages know the client, and no ids of ours. */
export async function oauth2CredentialOf(
  { store }: SubmitDependencies,
  { organizationId }: ProxyConfig,
  { provider: spelling, clientId }: Pick<ProviderSignInRequest, "provider" | "clientId">,
): Promise<string> {
  if (clientId === "") throw new Fault("invalid_argument", "client_id must be set");
  const provider = oauth2ProviderOf(spelling);
  const credentials = await findOrganizationPage(store, organizationId, "oauth2Credentials");
  const found = credentials.values().find((each) => each.provider === provider && each.clientId === clientId);
  if (found !== undefined) return found.oauth2CredentialId;
  throw new Fault(
    "not_found",
    `unable to find an OAuth 2.0 credential of ${spelling} with client id \`${clientId}\`: create it with create_oauth2_credential`,
    { errorCode: "OAUTH2_CREDENTIAL_NOT_FOUND" },
  );
}
