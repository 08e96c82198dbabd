/** Older forms of `create_sub_organization`, each a translation to the newest; what they never had is absent. */
import { defineVersion } from "../endpoints/define_activity.ts";
import { optionalEmail, optionalPhoneNumber } from "../fields/contacts.ts";
import {
  apiKeys,
  apiKeysV1,
  authenticatorParams,
  authenticators,
  clientSignature,
  fromApiKeyV1,
  fromOauthProviderV1,
  oauthProvidersV1,
  optional,
  verificationToken,
} from "../fields/credentials.ts";
import { knownFields } from "../fields/known_fields.ts";
import { name } from "../fields/names.ts";
import {
  type CreateSubOrganizationParams,
  type RootUserParams,
  rootUserTag,
  withOlderParts,
} from "../fields/new_sub_organization.ts";
import { privateKeyParams } from "../fields/private_keys.ts";
import { type Static, Type } from "../fields/schema.ts";
import { walletParams } from "../fields/wallets.ts";

const people = {
  userName: name("Human-readable name of the user."),
  userEmail: optionalEmail,
  authenticators: optional(authenticators),
};

const rootUserV1 = Type.Object({ ...people, apiKeys: optional(apiKeysV1) });
const rootUserV2 = Type.Object({ ...people, apiKeys: optional(apiKeysV1), oauthProviders: optional(oauthProvidersV1) });
const rootUserV3 = Type.Object({ ...people, apiKeys: optional(apiKeys), oauthProviders: optional(oauthProvidersV1) });
const rootUserV4 = Type.Object({
  ...people,
  userPhoneNumber: optionalPhoneNumber,
  userTag: rootUserTag,
  apiKeys: optional(apiKeys),
  oauthProviders: optional(oauthProvidersV1),
});

function fromRootUserV1(user: Static<typeof rootUserV1>): RootUserParams {
  return { ...knownFields(rootUserV1, user), apiKeys: (user.apiKeys ?? []).map(fromApiKeyV1) };
}

function fromRootUserV2(user: Static<typeof rootUserV2>): RootUserParams {
  return { ...fromRootUserV1(user), oauthProviders: (user.oauthProviders ?? []).map(fromOauthProviderV1) };
}

function fromRootUserV3(user: Static<typeof rootUserV3>): RootUserParams {
  return {
    ...knownFields(rootUserV3, user),
    oauthProviders: (user.oauthProviders ?? []).map(fromOauthProviderV1),
  };
}

function fromRootUserV4(user: Static<typeof rootUserV4>): RootUserParams {
  return {
    ...knownFields(rootUserV4, user),
    oauthProviders: (user.oauthProviders ?? []).map(fromOauthProviderV1),
  };
}

const rootUsersOf = <T extends Parameters<typeof Type.Array>[0]>(user: T) => Type.Array(user, { maxItems: 100 });

const organization = {
  subOrganizationName: name("Human-readable name of the sub-organization."),
  rootQuorumThreshold: Type.Integer({ minimum: -2147483648, maximum: 2147483647 }),
};
const switches = {
  wallet: optional(walletParams),
  disableEmailRecovery: optional(Type.Boolean()),
  disableEmailAuth: optional(Type.Boolean()),
};
const laterSwitches = {
  disableSmsAuth: optional(Type.Boolean()),
  disableOtpEmailAuth: optional(Type.Boolean()),
  verificationToken,
  clientSignature,
};

const paramsV7 = Type.Object({
  ...organization,
  rootUsers: rootUsersOf(rootUserV4),
  ...switches,
  ...laterSwitches,
});
const paramsV6 = Type.Object({ ...organization, rootUsers: rootUsersOf(rootUserV3), ...switches });
const paramsV5 = Type.Object({ ...organization, rootUsers: rootUsersOf(rootUserV2), ...switches });
const paramsV4 = Type.Object({ ...organization, rootUsers: rootUsersOf(rootUserV1), ...switches });
const paramsV3 = Type.Object({
  ...organization,
  rootUsers: rootUsersOf(rootUserV1),
  privateKeys: Type.Array(privateKeyParams, { maxItems: 100 }),
});
const paramsV2 = Type.Object({ ...organization, rootUsers: rootUsersOf(rootUserV1) });
const paramsV1 = Type.Object({ name: organization.subOrganizationName, rootAuthenticator: authenticatorParams });

const v7 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V7",
  intentKey: "createSubOrganizationIntentV7",
  resultKey: "createSubOrganizationResultV7",
  params: paramsV7,
  translate(params): CreateSubOrganizationParams {
    const rootUsers = params.rootUsers.map(fromRootUserV4);
    return withOlderParts({ ...knownFields(paramsV7, params), rootUsers }, { signUpForm: "signup" });
  },
});

const v6 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V6",
  intentKey: "createSubOrganizationIntentV6",
  resultKey: "createSubOrganizationResultV6",
  params: paramsV6,
  translate: (params): CreateSubOrganizationParams => ({
    ...knownFields(paramsV6, params),
    rootUsers: params.rootUsers.map(fromRootUserV3),
  }),
});

const v5 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V5",
  intentKey: "createSubOrganizationIntentV5",
  resultKey: "createSubOrganizationResultV5",
  params: paramsV5,
  translate: (params): CreateSubOrganizationParams => ({
    ...knownFields(paramsV5, params),
    rootUsers: params.rootUsers.map(fromRootUserV2),
  }),
});

const v4 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V4",
  intentKey: "createSubOrganizationIntentV4",
  resultKey: "createSubOrganizationResultV4",
  params: paramsV4,
  translate: (params): CreateSubOrganizationParams => ({
    ...knownFields(paramsV4, params),
    rootUsers: params.rootUsers.map(fromRootUserV1),
  }),
});

/** The only version with private keys; its result always lists those it made. */
const v3 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V3",
  intentKey: "createSubOrganizationIntentV3",
  resultKey: "createSubOrganizationResultV3",
  params: paramsV3,
  translate(params): CreateSubOrganizationParams {
    const { privateKeys, ...known } = knownFields(paramsV3, params);
    return withOlderParts({ ...known, rootUsers: params.rootUsers.map(fromRootUserV1) }, { privateKeys });
  },
  answer: (result) => ({ privateKeys: [], ...result }),
});

const v2 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION_V2",
  intentKey: "createSubOrganizationIntentV2",
  resultKey: "createSubOrganizationResult",
  params: paramsV2,
  translate: (params): CreateSubOrganizationParams => ({
    ...knownFields(paramsV2, params),
    rootUsers: params.rootUsers.map(fromRootUserV1),
  }),
});

/** One root user, without a name of its own, whose only credential is a passkey. */
const v1 = defineVersion({
  type: "ACTIVITY_TYPE_CREATE_SUB_ORGANIZATION",
  intentKey: "createSubOrganizationIntent",
  resultKey: "createSubOrganizationResult",
  params: paramsV1,
  translate: (params): CreateSubOrganizationParams => ({
    subOrganizationName: params.name,
    rootUsers: [{ userName: "Root user", apiKeys: [], authenticators: [params.rootAuthenticator] }],
    rootQuorumThreshold: 1,
  }),
});

export const createSubOrganizationVersions = [v7, v6, v5, v4, v3, v2, v1];
