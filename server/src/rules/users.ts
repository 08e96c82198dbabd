import { apiKeyCurves } from "@keystead/core/crypto/api_key.ts";
import { Fault } from "@keystead/core/fault.ts";
import { mapWithPauses, type Work } from "@keystead/core/work.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import { checkLimit } from "../endpoints/limits.ts";
import type { ApiKeyParams, AuthenticatorParams, OauthProviderParams } from "../fields/credentials.ts";
import { parseSearchedKey } from "../fields/public_key.ts";
import { keptMarks, type VerifiedContact, withMark } from "../state/contacts.ts";
import { keptCredentialsOf } from "../state/credentials.ts";
import { type ApiKey, type Change, put, type User } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";
import { getUser, getUserTag } from "../state/members.ts";
import type { Pages } from "../state/pages.ts";
import { refusePasskeysByCount } from "./authenticators.ts";
import { parseEmail, parsePhoneNumber } from "./contacts.ts";
import {
  hasCredential,
  missingCredential,
  refuseKnownCredentials,
  withApiKeys,
  withNewCredentials,
} from "./credentials.ts";
import { refuseProvidersByCount } from "./oauth_providers.ts";
import { refuseLockOut } from "./quorum.ts";

export type NewUserParams = {
  userName: string;
  userEmail?: string | null;
  userPhoneNumber?: string | null;
  apiKeys: readonly ApiKeyParams[];
  authenticators: readonly AuthenticatorParams[];
  oauthProviders: readonly OauthProviderParams[];
  userTags: readonly string[];
  /** Texts of keys that the nonce of an identity token may name, for a user who is born with an organization. */
  bornWithKeys?: readonly string[];
};

/** The most API keys that one activity makes: for each the signer, who does one thing at a time, has curve work to do. */
const maxApiKeysPerActivity = 200;

/** Keys that an activity asks for, of a user that is there or of one that it creates. */
type AskedKeys = {
  user?: User;
  apiKeys: readonly ApiKeyParams[];
  authenticators?: readonly unknown[] | null | undefined;
  oauthProviders?: readonly unknown[] | null | undefined;
};

/**
 * Refuses what can be told from the texts alone: too many keys, and keys that somebody has. It comes before `newApiKey`, or a
 * request that is bound to fail would have the curve work of all its keys done first, again and again.
 */
export function refuseKeysByText(
  members: Pick<MembersPage, "users">,
  asked: readonly AskedKeys[],
  context: ActivityContext,
): void {
  const count = asked.reduce((sum, { apiKeys }) => sum + apiKeys.length, 0);
  if (count > maxApiKeysPerActivity) {
    throw new Fault(
      "invalid_argument",
      `one activity may create at most ${maxApiKeysPerActivity} api keys, and this one asks for ${count}`,
    );
  }
  refusePasskeysByCount(asked, context);
  refuseProvidersByCount(asked, context);
  const drafts = asked.flatMap(({ user = newcomer, apiKeys }) => {
    const keys = apiKeys.map((key) => draftKey(key, context.nowMs));
    withApiKeys(user, keys, context);
    return keys;
  });
  const readable = drafts.filter(({ publicKey }) => publicKey !== malformed);
  refuseKnownCredentials(
    members,
    readable.map((entity) => ({ kind: "apiKey", entity })),
  );
}

const newcomer: User = { userId: "", userName: "", userTags: [], apiKeys: [], createdAtMs: 0, updatedAtMs: 0 };
const malformed = "";

/** The key in the form it would be stored in, if it lies on its curve and its lifetime is one. */
function draftKey({ apiKeyName, curveType, publicKey, expirationSeconds }: ApiKeyParams, nowMs: number): ApiKey {
  const lasts = expirationSeconds === undefined || expirationSeconds === null;
  return {
    apiKeyId: "",
    apiKeyName,
    curve: curveType,
    publicKey: spell(publicKey),
    type: apiKeyCurves[curveType].credentialType,
    ...(!lasts && { expiresAtMs: nowMs }),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** What is wrong with a malformed key is for `newApiKey` to say, which knows its curve. */
function spell(publicKey: string): string {
  try {
    return parseSearchedKey(publicKey);
  } catch {
    return malformed;
  }
}

/** A user with its credentials. Whether they suffice depends on the organization and is asked there. */
export function newUser(context: ActivityContext, params: NewUserParams): User {
  const userEmail = parseEmail(params.userEmail);
  const userPhoneNumber = parsePhoneNumber(params.userPhoneNumber);
  const user: User = {
    userId: context.newId(),
    userName: params.userName,
    ...(userEmail !== undefined && { userEmail }),
    ...(userPhoneNumber !== undefined && { userPhoneNumber }),
    userTags: [...new Set(params.userTags)],
    apiKeys: [],
    createdAtMs: context.nowMs,
    updatedAtMs: context.nowMs,
  };
  return withNewCredentials(user, params, context);
}

/** New users of an organization: all of them, or none. Each must be able to sign in. */
export function* createUsersIn(
  { members, settings }: Pick<Pages, "members" | "settings">,
  users: readonly NewUserParams[],
  context: ActivityContext,
): Work<{ changes: Change[]; result: { userIds: string[] } }> {
  checkLimit("users", members.users.size + users.length, context);
  refuseKeysByText(members, users, context);
  const created = yield* mapWithPauses(users, (params) => {
    for (const tagId of params.userTags) getUserTag(members, context.organizationId, tagId);
    return newUser(context, params);
  });
  for (const user of created) {
    if (!hasCredential(user, settings, context.nowMs)) throw missingCredential(user.userId, user.userName);
  }
  refuseKnownCredentials(members, created.flatMap(keptCredentialsOf));
  return {
    changes: created.map((user) => put("user", user)),
    result: { userIds: created.map((user) => user.userId) },
  };
}

type UserChange = {
  userName?: string;
  userTags?: readonly string[];
  /** Empty removes it. */
  userEmail?: string;
  userPhoneNumber?: string;
  /** The contact that a token verifies which came with the change. */
  verified?: VerifiedContact | undefined;
};

/** The change of one user, who must still be able to sign in afterwards. */
export function changedUser(
  { members, settings }: Pick<Pages, "members" | "settings">,
  { organizationId, nowMs }: ActivityContext,
  userId: string,
  change: UserChange,
): Change {
  const before = getUser(members, organizationId, userId);
  const { userEmail, userPhoneNumber, emailVerified: _, phoneVerified: __, ...user } = before;
  // Clients send the whole user back: an address that was taken by an earlier version's rules stays, unless it changes.
  const keepsEmail = change.userEmail === undefined || change.userEmail === userEmail;
  const email = keepsEmail ? userEmail : parseEmail(change.userEmail);
  const phoneNumber = change.userPhoneNumber === undefined ? userPhoneNumber : parsePhoneNumber(change.userPhoneNumber);
  const contacts = {
    ...(email !== undefined && { userEmail: email }),
    ...(phoneNumber !== undefined && { userPhoneNumber: phoneNumber }),
  };
  const unproved: User = {
    ...user,
    userName: change.userName ?? user.userName,
    userTags: change.userTags ?? user.userTags,
    ...contacts,
    ...keptMarks(before, contacts),
    updatedAtMs: nowMs,
  };
  const next = change.verified === undefined ? unproved : withMark(unproved, change.verified);
  refuseLockOut(members, { user: before, settings }, { user: next, settings }, nowMs);
  return put("user", next);
}
