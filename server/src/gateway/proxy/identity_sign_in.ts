/** Sign-in through the auth proxy by an identity at another issuer, or at an OAuth 2.0 provider. The signer verifies each token again. */
import { Fault } from "@keystead/core/fault.ts";
import type { ProviderSignInRequest } from "../../fields/auth_proxy_requests.ts";
import { oauth2ProviderOf } from "../../state/oauth2_providers.ts";
import { findOrganizationPage } from "../../views/organization_page.ts";
import { verifyIdentity } from "../evidence/read_identity.ts";
import type { SubmitDependencies } from "../submit/submit_dependencies.ts";
import type { ProxyConfig } from "./proxy_configs.ts";
import { findIdentity, issuerIdentity } from "./sign_up_identities.ts";

/** The sub-organization that the owner of an identity token signs in to. Only its issuer's word tells whether there is one. */
export async function subOrganizationOfIdentity(
  { store, issuers }: SubmitDependencies,
  { organizationId }: ProxyConfig,
  oidcToken: string,
): Promise<string> {
  const claims = await verifyIdentity(issuers, oidcToken, Date.now());
  const found = await findIdentity(store, organizationId, issuerIdentity(claims));
  const [first, ...others] = new Set(found.map((row) => row.organizationId));
  if (first === undefined) {
    throw new Fault("unauthenticated", "could not find a user with the identity of this OIDC token in organization", {
      errorCode: "CREDENTIAL_NOT_FOUND",
    });
  }
  if (others.length > 0) {
    throw new Fault("unauthenticated", "more than one user associated with the identity of this OIDC token", {
      errorCode: "CREDENTIAL_CONFLICT",
    });
  }
  return first;
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
