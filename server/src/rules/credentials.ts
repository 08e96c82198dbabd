/** Credentials a user may have: how many, which expire, and which of them let somebody in. */
import { apiKeyCurves, normalisePublicKey } from "@keystead/core/crypto/api_key.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import type { ApiKeyParams, AuthenticatorParams, OauthProviderParams } from "../fields/credentials.ts";
import {
  type CredentialEntities,
  type CredentialKind,
  credentialLookup,
  credentialsOf,
  isExpired,
  isLasting,
  isRecoveryKey,
  type KeptCredential,
  keptCredentialsOf,
} from "../state/credentials.ts";
import type { ApiKey, Settings, User } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";
import { newAuthenticator, withAuthenticators } from "./authenticators.ts";
import { isFeatureOn } from "./features.ts";
import { withOauthProviders } from "./oauth_providers.ts";

/** The longest lifetime of a key, so that every time stays an exact number. */
const maxLifetimeSeconds = 10_000_000_000;

export function newApiKey(context: ActivityContext, params: ApiKeyParams): ApiKey {
  const { apiKeyName, publicKey, curveType } = params;
  const expiresAtMs = expiryOf(params.expirationSeconds, context.nowMs);
  return {
    apiKeyId: context.newId(),
    apiKeyName,
    curve: curveType,
    publicKey: normalisePublicKey(context.curves, curveType, publicKey),
    type: apiKeyCurves[curveType].credentialType,
    ...(expiresAtMs !== undefined && { expiresAtMs }),
    createdAtMs: context.nowMs,
    updatedAtMs: context.nowMs,
  };
}

/** An empty text is refused: who wrote the field down wanted a key that ends. */
function expiryOf(seconds: string | null | undefined, nowMs: number): number | undefined {
  if (seconds === undefined || seconds === null) return undefined;
  if (!/^[0-9]{1,11}$/.test(seconds) || Number(seconds) < 1 || Number(seconds) > maxLifetimeSeconds) {
    throw new Fault(
      "invalid_argument",
      "invalid api key expiration: expirationSeconds is a whole number of seconds, at least 1; leave it out for a key that never expires",
    );
  }
  return nowMs + Number(seconds) * 1000;
}

type NewCredentials = {
  apiKeys: readonly ApiKeyParams[];
  authenticators: readonly AuthenticatorParams[];
  oauthProviders: readonly OauthProviderParams[];
  bornWithKeys?: readonly string[];
};

/** A new user with all the credentials that its request brings. */
export function withNewCredentials(
  user: User,
  { apiKeys, authenticators, oauthProviders, bornWithKeys }: NewCredentials,
  context: ActivityContext,
): User {
  const keys = apiKeys.map((key) => newApiKey(context, key));
  const passkeys = authenticators.map((params) => newAuthenticator(context, params));
  const withKeys = withAuthenticators(withApiKeys(user, keys, context), passkeys, context);
  return withOauthProviders(withKeys, oauthProviders, context, bornWithKeys).user;
}

/** The user with more keys. Too many long-lived ones are refused; of expiring ones there is always room for another. */
export function withApiKeys(user: User, added: readonly ApiKey[], { nowMs, limits }: ActivityContext): User {
  const longLived = added.filter(isLasting).length;
  const expiring = added.length - longLived;
  if (longLived > 0 && user.apiKeys.filter(isLasting).length + longLived > limits.longLivedApiKeysPerUser) {
    throw new Fault(
      "resource_exhausted",
      "user has exceeded maximum long-lived api keys: delete one with delete_api_keys, or set expirationSeconds for the new one",
    );
  }
  if (expiring > limits.expiringApiKeysPerUser) {
    throw new Fault("resource_exhausted", "user has exceeded maximum short-lived api keys: ask for fewer at once");
  }
  const gone = expiring === 0 ? new Set() : evictedKeys(user, limits.expiringApiKeysPerUser - expiring, nowMs);
  const kept = user.apiKeys.filter((key) => !gone.has(key));
  return { ...user, apiKeys: [...kept, ...added], updatedAtMs: nowMs };
}

/**
 * The expiring keys that go so that at most `room` are left: first those that are over, then those that were made or renewed longest
 * ago. The caller's own may be among them: who asks for an eleventh gives up the oldest, and has the new one.
 */
function evictedKeys({ apiKeys }: User, room: number, nowMs: number): Set<ApiKey> {
  const expiring = apiKeys.filter((key) => !isLasting(key));
  if (expiring.length <= room) return new Set();
  const over = expiring.filter((key) => isExpired(key, nowMs));
  const oldestFirst = expiring
    .filter((key) => !isExpired(key, nowMs))
    .sort((one, other) => one.updatedAtMs - other.updatedAtMs || one.createdAtMs - other.createdAtMs);
  return new Set([...over, ...oldestFirst.slice(0, Math.max(0, oldestFirst.length - room))]);
}

/** The refusal of a key that somebody of the organization has. */
export function credentialTaken(publicKey: string): Fault {
  return new Fault(
    "already_exists",
    `public key \`${publicKey}\` already belongs to a user of this organization; make another key pair`,
  );
}

const knownFaults: { readonly [K in CredentialKind]: (entity: CredentialEntities[K]) => Fault } = {
  apiKey: ({ publicKey }) => credentialTaken(publicKey),
  authenticator: ({ credentialId }) =>
    new Fault(
      "already_exists",
      `authenticator with credential id \`${credentialId}\` already belongs to a user of this organization; make another passkey`,
    ),
  oauthProvider: ({ issuer, audience }) =>
    new Fault(
      "already_exists",
      `oauth provider with this subject of \`${issuer}\` for \`${audience}\` already belongs to a user of this organization`,
      { errorCode: "OAUTH_PROVIDER_ALREADY_EXISTS" },
    ),
};

/** A credential speaks for one user of an organization; a second owner would make its stamps ambiguous. */
export function refuseKnownCredentials({ users }: Pick<MembersPage, "users">, added: readonly KeptCredential[]): void {
  const known = new Set([...users.values()].flatMap(keptCredentialsOf).map(credentialLookup));
  for (const credential of added) {
    const lookup = credentialLookup(credential);
    if (known.has(lookup)) throw alreadyKnown(credential);
    known.add(lookup);
  }
}

function alreadyKnown<K extends CredentialKind>({ kind, entity }: KeptCredential<K>): Fault {
  return knownFaults[kind](entity);
}

/** Whether the user can sign in now: with a passkey, with a key that has not expired, or with a contact whose login is on. */
export function hasCredential(user: User, settings: Settings, nowMs: number): boolean {
  const letsIn = credentialsOf(user).some((each) => !isExpired(each, nowMs) && !isRecoveryKey(each));
  return letsIn || hasLogin(user, settings);
}

/** Whether that stays so when time passes. */
export function hasLastingCredential(user: User, settings: Settings): boolean {
  return hasLastingKey(user) || hasLogin(user, settings);
}

/** Whether the user holds a credential that never expires. A contact is none: somebody else may hold it. */
export function hasLastingKey(user: User): boolean {
  return credentialsOf(user).some((credential) => isLasting(credential) && !isRecoveryKey(credential));
}

function hasLogin({ userEmail, userPhoneNumber }: User, settings: Settings): boolean {
  const emailLogin =
    isFeatureOn(settings, "FEATURE_NAME_EMAIL_AUTH") || isFeatureOn(settings, "FEATURE_NAME_OTP_EMAIL_AUTH");
  return (
    (userEmail !== undefined && emailLogin) ||
    (userPhoneNumber !== undefined && isFeatureOn(settings, "FEATURE_NAME_SMS_AUTH"))
  );
}

/** By id, as published, and by name where the request may create the user: nobody knows the id of such a one. */
export function missingCredential(userId: string, userName?: string): Fault {
  const named = userName === undefined ? "" : ` (\`${userName}\`)`;
  return new Fault(
    "invalid_argument",
    `user missing valid credential: ${userId}${named}; a user needs a passkey, an OAuth provider or an API key that has not expired, a member of the root quorum one that never does`,
  );
}
