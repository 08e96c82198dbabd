/** What sign-in does to an organization: sessions, passkeys and where these may be used. */
import type { Key, Made, Parameters, Passkey, Session, SessionType, State, User } from "./model.ts";
import { takesPasskeys } from "./origins.ts";
import { exhausted, exists, get, invalid, notFound, Refusal } from "./refusal.ts";

const sessionsPerUser = 10;
const passkeysPerUser = 10;
const noUser = "unable to find user";

type Asked = { attestation: { credentialId: string } };

export const signInRuns = {
  stamp_login(state: State, { publicKey, invalidateExisting }: Parameters, proposerId: string) {
    const user = get(state.users, proposerId, noUser);
    const type = "CREDENTIAL_TYPE_LOGIN";
    const owner = [...state.users].find(([, { keys }]) => keys.some((key) => key.publicKey === publicKey));
    const known = user.keys.find((key) => key.publicKey === publicKey);
    if (owner !== undefined && known?.session === undefined) throw new Refusal(exists, "already belongs to a user");
    return ({ result, timeMs }: Made) => {
      checkToken(result.session, { public_key: publicKey, user_id: proposerId });
      const kept = invalidateExisting === true ? withoutType(user, type, known) : user;
      const { session } = known ?? {};
      const keys =
        session === undefined
          ? withSession(kept, { apiKeyId: "?", publicKey, session: newSession(type, timeMs) })
          : kept.keys.map((key) => (key === known ? { ...key, session: { ...session, updatedAtMs: timeMs } } : key));
      return withUser(state, proposerId, { ...user, keys });
    };
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
    if (left.length + user.keys.length === 0) throw new Refusal(invalid, "user missing valid credential");
    return () => withUser(state, userId, { ...user, passkeys: left });
  },
  update_allowed_origins:
    (state: State, { allowedOrigins }: Parameters) =>
    () => ({ ...state, originsFeature: allowedOrigins.join(",") }),
  set_organization_feature:
    (state: State, { value }: Parameters) =>
    () => ({ ...state, originsFeature: value }),
  remove_organization_feature: (state: State) => () => ({ ...state, originsFeature: undefined }),
};

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
  const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  for (const [name, value] of Object.entries(expected)) {
    if (claims[name] !== value) throw new Error(`a login's token says ${name} ${claims[name]}, and not ${value}`);
  }
}

export function withUser(state: State, userId: string, user: User): State {
  return { ...state, users: new Map(state.users).set(userId, user) };
}
