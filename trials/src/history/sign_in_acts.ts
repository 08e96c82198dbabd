/** What sign-in does to an organization: sessions, passkeys and where these may be used. */
import type { Key, Made, Parameters, Passkey, Session, SessionType, State, User } from "./model.ts";
import { takesPasskeys } from "./origins.ts";
import { exhausted, exists, get, invalid, notFound, Refusal, unauthenticated } from "./refusal.ts";

const sessionsPerUser = 10;
const passkeysPerUser = 10;
const providersPerUser = 10;
const noUser = "unable to find user";

type Asked = { attestation: { credentialId: string } };

export const signInRuns = {
  stamp_login(state: State, parameters: Parameters, proposerId: string) {
    const login = logIn(state, proposerId, parameters);
    return (made: Made) => {
      checkToken(made.result.session, { public_key: parameters.publicKey, user_id: proposerId });
      return login(made);
    };
  },
  /** Its session is a bearer value, which no row has: what answers say of it is held against each other. */
  oauth_login(state: State, parameters: Parameters) {
    const subject = subjectIn(parameters.oidcToken);
    const owner = [...state.users].find(([, { providers = [] }]) => providers.some((each) => each.subject === subject));
    if (owner === undefined) throw new Refusal(unauthenticated, "could not find a user with the identity");
    return logIn(state, owner[0], parameters);
  },
  create_oauth_providers(state: State, { userId, oauthProviders }: Parameters) {
    const user = get(state.users, userId, noUser);
    const { providers = [] } = user;
    if (providers.length + oauthProviders.length > providersPerUser) {
      throw new Refusal(exhausted, "exceeded maximum oauth providers");
    }
    const subjects: string[] = oauthProviders.map(({ oidcToken }: Parameters) => subjectIn(oidcToken));
    for (const { providers: known = [] } of state.users.values()) {
      if (known.some(({ subject }) => subjects.includes(subject)))
        throw new Refusal(exists, "already belongs to a user");
    }
    return ({ result: { providerIds } }: Made) => {
      const added = subjects.map((subject, index) => ({ providerId: providerIds[index], subject }));
      return withUser(state, userId, { ...user, providers: [...providers, ...added] });
    };
  },
  delete_oauth_providers(state: State, { userId, providerIds }: Parameters) {
    const user = get(state.users, userId, noUser);
    const { providers = [] } = user;
    const left = providers.filter(({ providerId }) => !providerIds.includes(providerId));
    if (left.length !== providers.length - providerIds.length) {
      throw new Refusal(notFound, "unable to find oauth provider");
    }
    const after = { ...user, providers: left };
    refuseLockOut(after);
    return () => withUser(state, userId, after);
  },
  create_read_write_session(state: State, { userId: named, invalidateExisting }: Parameters, proposerId: string) {
    const userId = named ?? proposerId;
    const user = get(state.users, userId, noUser);
    const type = "CREDENTIAL_TYPE_READ_WRITE_SESSION_KEY_P256";
    return ({ result: { apiKeyId, publicKey }, timeMs }: Made) => {
      const kept = invalidateExisting === true ? withoutType(user, type) : user;
      const keys = withSession(kept, { apiKeyId, publicKey, session: newSession(type, timeMs) });
      return withUser(state, userId, { ...user, keys });
    };
  },
  create_read_only_session(state: State, _: Parameters, proposerId: string) {
    get(state.users, proposerId, noUser);
    return () => state;
  },
  create_authenticators(state: State, { userId, authenticators }: Parameters) {
    const user = get(state.users, userId, noUser);
    if (user.passkeys.length + authenticators.length > passkeysPerUser) {
      throw new Refusal(exhausted, "exceeded maximum authenticators");
    }
    const register = newPasskeys(state, authenticators);
    return ({ result: { authenticatorIds } }: Made) =>
      withUser(state, userId, { ...user, passkeys: [...user.passkeys, ...register(authenticatorIds)] });
  },
  delete_authenticators(state: State, { userId, authenticatorIds }: Parameters) {
    const user = get(state.users, userId, noUser);
    const left = user.passkeys.filter(({ authenticatorId }) => !authenticatorIds.includes(authenticatorId));
    if (left.length !== user.passkeys.length - authenticatorIds.length) {
      throw new Refusal(notFound, "unable to find authenticator");
    }
    const after = { ...user, passkeys: left };
    refuseLockOut(after);
    return () => withUser(state, userId, after);
  },
  update_allowed_origins:
    (state: State, { allowedOrigins }: Parameters) =>
    () => ({ ...state, originsFeature: allowedOrigins.join(",") }),
  set_organization_feature:
    (state: State, { value }: Parameters) =>
    () => ({ ...state, originsFeature: value }),
  remove_organization_feature: (state: State) => () => ({ ...state, originsFeature: undefined }),
};

/** A key of the client's speaks for the user from now on, or for longer. */
function logIn(state: State, userId: string, { publicKey, invalidateExisting }: Parameters): (made: Made) => State {
  const user = get(state.users, userId, noUser);
  const type = "CREDENTIAL_TYPE_LOGIN";
  const owner = [...state.users].find(([, { keys }]) => keys.some((key) => key.publicKey === publicKey));
  const known = user.keys.find((key) => key.publicKey === publicKey);
  if (owner !== undefined && known?.session === undefined) throw new Refusal(exists, "already belongs to a user");
  return ({ timeMs }) => {
    const kept = invalidateExisting === true ? withoutType(user, type, known) : user;
    const { session } = known ?? {};
    const keys =
      session === undefined
        ? withSession(kept, { apiKeyId: "?", publicKey, session: newSession(type, timeMs) })
        : kept.keys.map((key) => (key === known ? { ...key, session: { ...session, updatedAtMs: timeMs } } : key));
    return withUser(state, userId, { ...user, keys });
  };
}

/** A user keeps a way to sign in. */
export function refuseLockOut({ keys, passkeys, providers = [] }: User): void {
  if (keys.length + passkeys.length + providers.length === 0)
    throw new Refusal(invalid, "user missing valid credential");
}

function claimsOf(token: string): Parameters {
  return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
}

const subjectIn = (oidcToken: string): string => claimsOf(oidcToken).sub;

/** Passkeys of a request, once their ids are known: those that come with their user have ids that nobody is told. */
export function newPasskeys(state: State, asked: readonly Asked[]): (ids?: readonly string[]) => Passkey[] {
  if (asked.length > 0 && !takesPasskeys(state)) throw new Refusal(invalid, "invalid authenticator attestation");
  const credentialIds = asked.map(({ attestation }) => attestation.credentialId);
  for (const { passkeys } of state.users.values()) {
    if (passkeys.some(({ credentialId }) => credentialIds.includes(credentialId))) {
      throw new Refusal(exists, "already belongs to a user");
    }
  }
  return (ids = []) =>
    credentialIds.map((credentialId, index) => ({ authenticatorId: ids[index] ?? "?", credentialId }));
}

export function refuseKnownKeys({ users }: State, asked: readonly Key[]): void {
  for (const { keys } of users.values()) {
    if (asked.some(({ publicKey }) => keys.some((key) => key.publicKey === publicKey))) {
      throw new Refusal(exists, "already belongs to a user");
    }
  }
}

const newSession = (type: SessionType, timeMs: number): Session => ({
  type,
  createdAtMs: timeMs,
  updatedAtMs: timeMs,
});

function withoutType(user: User, type: SessionType, except?: Key): User {
  return { ...user, keys: user.keys.filter((key) => key.session?.type !== type || key === except) };
}

/** An eleventh takes the place of the one that was made or renewed longest ago. */
function withSession({ keys }: User, added: Key): readonly Key[] {
  const age = ({ session }: Key) => [session?.updatedAtMs ?? 0, session?.createdAtMs ?? 0] as const;
  const oldestFirst = keys
    .filter(({ session }) => session !== undefined)
    .sort((a, b) => age(a)[0] - age(b)[0] || age(a)[1] - age(b)[1]);
  const gone = oldestFirst.slice(0, Math.max(0, oldestFirst.length + 1 - sessionsPerUser));
  return [...keys.filter((key) => !gone.includes(key)), added];
}

/** A token that says anything else would be somebody else's session. */
function checkToken(token: string, expected: Readonly<Record<string, string>>): void {
  const claims = claimsOf(token);
  for (const [name, value] of Object.entries(expected)) {
    if (claims[name] !== value) throw new Error(`a login's token says ${name} ${claims[name]}, and not ${value}`);
  }
}

export function withUser(state: State, userId: string, user: User): State {
  return { ...state, users: new Map(state.users).set(userId, user) };
}
