/** Users and their credentials as clients see them. */
import type { ApiKey, User } from "../state/entities.ts";
import { timestamp } from "./dialect.ts";

/** A full user record. Authenticators, OAuth providers and MFA policies are empty until sign-in knows them. */
export function userView(user: User) {
  return {
    userId: user.userId,
    userName: user.userName,
    ...(user.userEmail !== undefined && { userEmail: user.userEmail }),
    ...(user.userPhoneNumber !== undefined && { userPhoneNumber: user.userPhoneNumber }),
    authenticators: [],
    apiKeys: user.apiKeys.map(apiKeyView),
    userTags: [...user.userTags],
    oauthProviders: [],
    mfaPolicies: [],
    createdAt: timestamp(user.createdAtMs),
    updatedAt: timestamp(user.updatedAtMs),
  };
}

export function apiKeyView(key: ApiKey) {
  return {
    credential: { publicKey: key.publicKey, type: key.type },
    apiKeyId: key.apiKeyId,
    apiKeyName: key.apiKeyName,
    createdAt: timestamp(key.createdAtMs),
    updatedAt: timestamp(key.updatedAtMs),
    ...(key.expiresAtMs !== undefined && {
      expirationSeconds: String(Math.round((key.expiresAtMs - key.createdAtMs) / 1000)),
    }),
  };
}
