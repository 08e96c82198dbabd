import { defineQuery } from "../endpoints/define_query.ts";
import { id, organizationId } from "../fields/ids.ts";
import { oauth2Credential } from "../fields/oauth2_credentials.ts";
import { Type } from "../fields/schema.ts";
import { getOauth2Credential as find } from "../rules/oauth2_credentials.ts";
import { oauth2CredentialView } from "../views/oauth2_credential_view.ts";
import { findOrganizationPage } from "../views/organization_page.ts";

/** Gets one OAuth 2.0 credential, with its secret encrypted as it came. */
export const getOauth2Credential = defineQuery({
  path: "get_oauth2_credential",
  summary: "Get one OAuth 2.0 credential of an application",
  request: Type.Object({ organizationId, oauth2CredentialId: id }),
  response: Type.Object({ oauth2Credential }),
  async run(store, _caller, { organizationId, oauth2CredentialId }, dialect) {
    const page = await findOrganizationPage(store, organizationId, "oauth2Credentials");
    const found = find(page, oauth2CredentialId, { organizationId });
    return { oauth2Credential: oauth2CredentialView(organizationId, found, dialect) };
  },
});
