import { defineActivity } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { getOauth2Credential } from "../rules/oauth2_credentials.ts";
import { remove } from "../state/entities.ts";

/** Deletes an OAuth 2.0 credential: nobody signs in with it any more. */
export const deleteOauth2Credential = defineActivity({
  path: "delete_oauth2_credential",
  type: "ACTIVITY_TYPE_DELETE_OAUTH2_CREDENTIAL",
  intentKey: "deleteOauth2CredentialIntent",
  resultKey: "deleteOauth2CredentialResult",
  summary: "Delete an OAuth 2.0 credential of an application",
  params: Type.Object({ oauth2CredentialId: id }),
  result: Type.Object({ oauth2CredentialId: id }),
  state: ({ oauth2Credentials }) => oauth2Credentials,
  run(page, params, context) {
    const { oauth2CredentialId } = getOauth2Credential(page, params.oauth2CredentialId, context);
    return { changes: [remove("oauth2Credential", oauth2CredentialId)], result: { oauth2CredentialId } };
  },
});
