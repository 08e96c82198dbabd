/**
 * Sessions of users. One that may write is an expiring key among the user's others, told from them by its type; it has no table of its own
 * and ends with its time, with its user, or when a newer one takes its place.
 */
import { normalisePublicKey } from "@keystead/core/crypto/api_key.ts";
import { makeSessionJwt } from "@keystead/core/crypto/session_jwt.ts";
import { Fault } from "@keystead/core/fault.ts";
import type { ActivityContext } from "../endpoints/define_activity.ts";
import { credentialLookup, keptCredentialsOf, type recoveryKeyType } from "../state/credentials.ts";
import type { ApiKey, SessionProfile, User } from "../state/entities.ts";
import type { MembersPage } from "../state/members.ts";
import { credentialTaken, withApiKeys } from "./credentials.ts";
import { defaultSessionType, namedProfileId, noSuchSessionProfile } from "./session_profiles.ts";

/** What sign-in makes, by how it was obtained. Keys that users add themselves have other types, also where they end. */
export const sessionTypes = [
  "CREDENTIAL_TYPE_LOGIN",
  "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256",
  "CREDENTIAL_TYPE_EMAIL_AUTH_KEY_P256",
  "CREDENTIAL_TYPE_OTP_AUTH_KEY_P256",
  "CREDENTIAL_TYPE_OAUTH_KEY_P256",
] as const;

export type SessionType = (typeof sessionTypes)[number];

/** Recovery keys end like sessions and are counted with them, but are none: nothing renews one. */
export type MadeKeyType = SessionType | typeof recoveryKeyType;

const defaultSessionSeconds = 900;
const sessionCurve = "API_KEY_CURVE_P256";

export type SessionParams = { expirationSeconds?: string | null; invalidateExisting?: boolean | null };

export type LoginParams = SessionParams & { publicKey: string; sessionProfileId?: string | null };

function isSession({ type }: ApiKey): boolean {
  return (sessionTypes as readonly string[]).includes(type);
}

/** When a session of now ends: as asked for, but never later than its profile allows. */
export function sessionExpiryMs(
  { expirationSeconds }: SessionParams,
  { nowMs, limits }: ActivityContext,
  profile?: Pick<SessionProfile, "expirationSeconds">,
): number {
  const { maxSessionSeconds } = limits;
  const most = profile?.expirationSeconds;
  if (expirationSeconds === undefined || expirationSeconds === null) {
    return nowMs + Math.min(most ?? defaultSessionSeconds, maxSessionSeconds) * 1000;
  }
  const seconds = /^[0-9]{1,11}$/.test(expirationSeconds) ? Number(expirationSeconds) : 0;
  if (seconds < 1) {
    throw new Fault(
      "invalid_argument",
      "invalid api key expiration: expirationSeconds is a whole number of seconds, at least 1; leave it out for a session of 15 minutes",
    );
  }
  if (seconds > maxSessionSeconds) {
    throw new Fault(
      "invalid_argument",
      `invalid api key expiration: a session lasts at most ${maxSessionSeconds} seconds (maxSessionSeconds in KEYSTEAD_LIMITS)`,
    );
  }
  return nowMs + Math.min(seconds, most ?? seconds) * 1000;
}

/** How a session's key is called that nobody named. */
export function sessionName(what: string, nowMs: number): string {
  return `${what} - ${new Date(nowMs).toISOString()}`;
}

export type NewSession = Pick<ApiKey, "apiKeyId" | "apiKeyName" | "publicKey" | "proven" | "sessionProfileId"> & {
  type: MadeKeyType;
  expiresAtMs: number;
};

/** The user with one more session. `invalidateExisting` ends the others of its type, and those alone. */
export function withSession(
  user: User,
  session: NewSession,
  { invalidateExisting }: SessionParams,
  context: ActivityContext,
): User {
  const { nowMs } = context;
  const key: ApiKey = { ...session, curve: sessionCurve, createdAtMs: nowMs, updatedAtMs: nowMs };
  return withApiKeys(invalidateExisting === true ? withoutType(user, session.type) : user, [key], context);
}

function withoutType(user: User, type: MadeKeyType, except?: ApiKey): User {
  return { ...user, apiKeys: user.apiKeys.filter((key) => key.type !== type || key === except) };
}

/** What a login comes to: the user with its key, and what the token says. */
export type Login = { user: User; publicKey: string; expiresAtMs: number; profile: SessionProfile | undefined };

/**
 * The user after signing in with a key of the client's. A key that is this user's session already goes on for as long as is asked for
 * now, with the profile that it has. Any other key that somebody has is refused: a login must neither give a lasting key an end nor
 * lengthen what a user has made to end.
 */
export function withLogin(members: MembersPage, user: User, params: LoginParams, context: ActivityContext): Login {
  const profile = chosenProfile(params, context);
  const expiresAtMs = sessionExpiryMs(params, context, profile);
  const { nowMs } = context;
  const session: NewSession = {
    apiKeyId: context.newId(),
    apiKeyName: sessionName("Login", nowMs),
    publicKey: normalisePublicKey(context.curves, sessionCurve, params.publicKey),
    type: "CREDENTIAL_TYPE_LOGIN",
    expiresAtMs,
    ...(profile !== undefined && { sessionProfileId: profile.sessionProfileId }),
  };
  const { publicKey } = session;
  const known = findKey(members, publicKey);
  if (known === undefined) {
    return { user: withSession(user, session, params, context), publicKey, expiresAtMs, profile };
  }
  if (known.userId !== user.userId || !isSession(known.key)) throw credentialTaken(publicKey);
  if (known.key.sessionProfileId !== session.sessionProfileId) throw otherProfile(publicKey);
  const renewed: ApiKey = { ...known.key, expiresAtMs, updatedAtMs: nowMs };
  const kept = params.invalidateExisting === true ? withoutType(user, "CREDENTIAL_TYPE_LOGIN", known.key) : user;
  const apiKeys = kept.apiKeys.map((key) => (key === known.key ? renewed : key));
  return { user: { ...kept, apiKeys, updatedAtMs: nowMs }, publicKey, expiresAtMs, profile };
}

/** What bounds the new session; undefined for the default one. */
function chosenProfile({ sessionProfileId }: LoginParams, context: ActivityContext): SessionProfile | undefined {
  const named = namedProfileId(sessionProfileId);
  if (named === undefined) return undefined;
  const profile = context.findSessionProfile(named);
  if (profile === undefined) throw noSuchSessionProfile(named, context.parentId ?? context.organizationId);
  return profile;
}

/** Who holds the key of a narrow session must not find it wider one day, nor the other way round. */
function otherProfile(publicKey: string): Fault {
  return new Fault(
    "already_exists",
    `public key \`${publicKey}\` belongs to a session with another session profile; make another key pair`,
  );
}

/** Whoever of the organization has this key. */
function findKey({ users }: MembersPage, publicKey: string): { userId: string; key: ApiKey } | undefined {
  const wanted = credentialLookup({ kind: "apiKey", entity: { curve: sessionCurve, publicKey } as ApiKey });
  for (const user of users.values()) {
    for (const kept of keptCredentialsOf(user)) {
      if (kept.kind === "apiKey" && credentialLookup(kept) === wanted) return { userId: user.userId, key: kept.entity };
    }
  }
  return undefined;
}

/** What a login answers with. */
export function sessionToken(
  { keys, organizationId }: ActivityContext,
  session: Pick<Login, "publicKey" | "expiresAtMs" | "profile"> & { userId: string },
): string {
  const { profile } = session;
  return makeSessionJwt(keys.notarizer, {
    expiresAtSeconds: Math.floor(session.expiresAtMs / 1000),
    publicKey: session.publicKey,
    sessionType: profile?.sessionProfileName ?? defaultSessionType,
    userId: session.userId,
    organizationId,
    ...(profile !== undefined && { profile: { sessionProfileId: profile.sessionProfileId, scope: profile.scope } }),
  });
}
