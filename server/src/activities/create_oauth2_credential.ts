import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { oauth2CredentialParams } from "../fields/oauth2_credentials.ts";
import { Type } from "../fields/schema.ts";
import { newOauth2Credential } from "../rules/oauth2_credentials.ts";
import { put } from "../state/entities.ts";

/** Stores what `oauth2_authenticate` signs users in to a provider with. Its secret is opened once, to see that it can be. */
export const createOauth2Credential = defineActivity({
  path: "create_oauth2_credential",
  type: "ACTIVITY_TYPE_CREATE_OAUTH2_CREDENTIAL",
  intentKey: "createOauth2CredentialIntent",
  resultKey: "createOauth2CredentialResult",
  summary: "Create an OAuth 2.0 credential of an application",
  params: Type.Object(oauth2CredentialParams),
  result: Type.Object({ oauth2CredentialId: id }),
  cost: () => unitCosts.bundle,
  state: ({ oauth2Credentials }) => oauth2Credentials,
  run(page, params, context) {
    const credential = newOauth2Credential(page, params, context);
    const { oauth2CredentialId } = credential;
    return { changes: [put("oauth2Credential", credential)], result: { oauth2CredentialId } };
  },
});
