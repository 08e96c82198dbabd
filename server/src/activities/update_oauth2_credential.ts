import { unitCosts } from "../endpoints/cost.ts";
import { defineActivity } from "../endpoints/define_activity.ts";
import { id } from "../fields/ids.ts";
import { oauth2CredentialParams } from "../fields/oauth2_credentials.ts";
import { Type } from "../fields/schema.ts";
import { changedOauth2Credential } from "../rules/oauth2_credentials.ts";
import { put } from "../state/entities.ts";

/** Replaces provider, client id and secret of an OAuth 2.0 credential. */
export const updateOauth2Credential = defineActivity({
  path: "update_oauth2_credential",
  type: "ACTIVITY_TYPE_UPDATE_OAUTH2_CREDENTIAL",
  intentKey: "updateOauth2CredentialIntent",
  resultKey: "updateOauth2CredentialResult",
  summary: "Update an OAuth 2.0 credential of an application",
  params: Type.Object({ oauth2CredentialId: id, ...oauth2CredentialParams }),
  result: Type.Object({ oauth2CredentialId: id }),
  cost: () => unitCosts.bundle,
  state: ({ oauth2Credentials }) => oauth2Credentials,
  run(page, params, context) {
    const { oauth2CredentialId } = params;
    return {
      changes: [put("oauth2Credential", changedOauth2Credential(page, params, context))],
      result: { oauth2CredentialId },
    };
  },
});
