/** Users and their credentials as clients see them. */
import { passkeyType } from "../state/credentials.ts";
import type { ApiKey, Authenticator, OauthProvider, User } from "../state/entities.ts";
import { timestamp } from "./dialect.ts";

/** A full user record. MFA policies are empty until sign-in knows them. */
export function userView(user: User) {
  return {
    userId: user.userId,
    userName: user.userName,
    ...(user.userEmail !== undefined && { userEmail: user.userEmail }),
    ...(user.userPhoneNumber !== undefined && { userPhoneNumber: user.userPhoneNumber }),
    authenticators: (user.authenticators ?? []).map(authenticatorView),
    apiKeys: user.apiKeys.map(apiKeyView),
    userTags: [...user.userTags],
    oauthProviders: (user.oauthProviders ?? []).map(oauthProviderView),
    mfaPolicies: [],
    createdAt: timestamp(user.createdAtMs),
    updatedAt: timestamp(user.updatedAtMs),
  };
}

export function apiKeyView(key: ApiKey) {
  return {
    credential: {
      publicKey: key.publicKey,
      type: key.type,
      ...(key.sessionProfileId !== undefined && { sessionProfileId: key.sessionProfileId }),
    },
    apiKeyId: key.apiKeyId,
    apiKeyName: key.apiKeyName,
    createdAt: timestamp(key.createdAtMs),
    updatedAt: timestamp(key.updatedAtMs),
    ...(key.expiresAtMs !== undefined && {
      expirationSeconds: String(Math.round((key.expiresAtMs - key.createdAtMs) / 1000)),
    }),
  };
}

export function authenticatorView(passkey: Authenticator) {
  return {
    transports: [...passkey.transports],
    attestationType: passkey.attestationType,
    aaguid: passkey.aaguid,
    credentialId: passkey.credentialId,
    // Names of models come with vendors' lists, which nothing here reads.
    model: "",
    credential: { publicKey: passkey.publicKey, type: passkeyType },
    authenticatorId: passkey.authenticatorId,
    authenticatorName: passkey.authenticatorName,
    createdAt: timestamp(passkey.createdAtMs),
    updatedAt: timestamp(passkey.updatedAtMs),
  };
}

export function oauthProviderView(provider: OauthProvider) {
  return {
    providerId: provider.providerId,
    providerName: provider.providerName,
    issuer: provider.issuer,
    audience: provider.audience,
    subject: provider.subject,
    createdAt: timestamp(provider.createdAtMs),
    updatedAt: timestamp(provider.updatedAtMs),
  };
}
