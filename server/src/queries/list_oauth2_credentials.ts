import { defineQuery } from "../endpoints/define_query.ts";
import { organizationId } from "../fields/ids.ts";
import { oauth2Credential } from "../fields/oauth2_credentials.ts";
import { Type } from "../fields/schema.ts";
import { oauth2CredentialView } from "../views/oauth2_credential_view.ts";
import { findOrganizationPage } from "../views/organization_page.ts";

/** Lists all OAuth 2.0 credentials, the oldest first, with their secrets encrypted as they came. */
export const listOauth2Credentials = defineQuery({
  path: "list_oauth2_credentials",
  summary: "List the OAuth 2.0 credentials of an application",
  request: Type.Object({ organizationId }),
  response: Type.Object({ oauth2Credentials: Type.Array(oauth2Credential) }),
  async run(store, _caller, { organizationId }, dialect) {
    const page = await findOrganizationPage(store, organizationId, "oauth2Credentials");
    return {
      oauth2Credentials: [...page.values()].map((each) => oauth2CredentialView(organizationId, each, dialect)),
    };
  },
});
