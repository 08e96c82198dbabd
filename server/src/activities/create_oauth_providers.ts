import { costOfUsers } from "../endpoints/cost.ts";
import { defineActivity, defineVersion } from "../endpoints/define_activity.ts";
import { fromOauthProviderV1, oauthProviderParams, oauthProviderParamsV1 } from "../fields/credentials.ts";
import { id, ids } from "../fields/ids.ts";
import { Type } from "../fields/schema.ts";
import { refuseKnownCredentials } from "../rules/credentials.ts";
import { refuseProvidersByCount, refuseUnlessLinked, withOauthProviders } from "../rules/oauth_providers.ts";
import { put } from "../state/entities.ts";
import { getUser } from "../state/members.ts";

const some = {
  minItems: 1,
  maxItems: 100,
  description: "Identities at OpenID Connect issuers; a user has at most ten.",
};

/** Each brought a token. */
const v1 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS",
  intentKey: "createOauthProvidersIntent",
  resultKey: "createOauthProvidersResult",
  params: Type.Object({ userId: id, oauthProviders: Type.Array(oauthProviderParamsV1, some) }),
  translate: ({ userId, oauthProviders }) => ({ userId, oauthProviders: oauthProviders.map(fromOauthProviderV1) }),
});

/** Registers identities of a user at other issuers: all of them, or none. A parent may do so for an e-mail address that was verified. */
export const createOauthProviders = defineActivity({
  path: "create_oauth_providers",
  type: "ACTIVITY_TYPE_CREATE_OAUTH_PROVIDERS_V2",
  intentKey: "createOauthProvidersIntentV2",
  resultKey: "createOauthProvidersResultV2",
  summary: "Link a user to identities at OpenID Connect providers",
  params: Type.Object({ userId: id, oauthProviders: Type.Array(oauthProviderParams, some) }),
  result: Type.Object({ providerIds: ids }),
  versions: [v1],
  bearerParams: { "oauthProviders[].oidcToken": "identityToken" },
  ownCredentialOf: ({ userId }) => userId,
  openToParent: true,
  cost: ({ oauthProviders }) => costOfUsers([{ oauthProviders }]),
  state: ({ members }) => members,
  run(members, { userId, oauthProviders }, context) {
    const before = getUser(members, context.organizationId, userId);
    refuseProvidersByCount([{ user: before, oauthProviders }], context);
    if (context.isByParent) refuseUnlessLinked(before, oauthProviders, context);
    const { user, added } = withOauthProviders(before, oauthProviders, context);
    refuseKnownCredentials(
      members,
      added.map((entity) => ({ kind: "oauthProvider", entity })),
    );
    return { changes: [put("user", user)], result: { providerIds: added.map(({ providerId }) => providerId) } };
  },
});
