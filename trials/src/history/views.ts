/** The answers of queries, from the wire and from a state of the model, in one form: what cannot be told from the model is left out. */
import type { Asked } from "./left_out.ts";
import type { Activity, Denial, Parameters, State, User } from "./model.ts";
import type { Seen } from "./record.ts";

type View = Parameters;

type QueryView = {
  /** What the state shows, or why it shows nothing. */
  tell(state: State, parameters: Parameters, callerId: string): View | Denial;
  /** What the answer's JSON shows. */
  read(json: Parameters): View;
};

const notFound = 5;

export function isDenial(told: View | Denial): told is Denial {
  return typeof told === "object" && told !== null && "says" in told;
}

/** Lists have no order that the model knows. */
const sorted = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();

/** Keys, passkeys and identities as lines. */
type Credentials = { keys: readonly string[]; passkeys: readonly string[]; providers: readonly string[] };
type UserRow = Pick<User, "userName" | "email" | "phoneNumber" | "tags"> & Credentials;

const userRow = (userId: string, { userName, email = "", phoneNumber = "", tags, ...credentials }: UserRow) => {
  const { keys, passkeys, providers } = credentials;
  const lists = [tags, keys, passkeys, providers].map((list) => [...list].sort());
  return [userId, userName, email, phoneNumber, ...lists];
};

/** A session is told from a key that lasts. */
const keyLine = (publicKey: string, session?: string) =>
  session === undefined ? publicKey : `${publicKey} ${session}`;

const tellKeys = ({ keys }: User) => keys.map(({ publicKey, session }) => keyLine(publicKey, session?.type));
const tellPasskeys = ({ passkeys }: User) => passkeys.map(({ credentialId }) => credentialId);

const tellProviders = ({ providers = [] }: User) =>
  providers.map(({ providerId, subject }) => `${providerId} ${subject}`);

function tellUser(state: State, userId: string) {
  const user = state.users.get(userId);
  const credentials = (own: User) => ({
    keys: tellKeys(own),
    passkeys: tellPasskeys(own),
    providers: tellProviders(own),
  });
  return user && userRow(userId, { ...user, ...credentials(user) });
}

const lastingType = "CREDENTIAL_TYPE_API_KEY_P256";

const readKeys = (apiKeys: Parameters): string[] =>
  apiKeys.map(({ credential: { publicKey, type } }: Parameters) =>
    keyLine(publicKey, type === lastingType ? undefined : type),
  );

const readPasskeys = (authenticators: Parameters): string[] =>
  authenticators.map(({ credentialId }: Parameters) => credentialId);

const readProviders = (oauthProviders: Parameters): string[] =>
  oauthProviders.map(({ providerId, subject }: Parameters) => `${providerId} ${subject}`);

function readUser({ userId, userName, userTags: tags, apiKeys, authenticators, ...more }: Parameters) {
  const { userEmail: email, userPhoneNumber: phoneNumber, oauthProviders } = more;
  const credentials = {
    keys: readKeys(apiKeys),
    passkeys: readPasskeys(authenticators),
    providers: readProviders(oauthProviders),
  };
  return userRow(userId, { userName, email, phoneNumber, tags, ...credentials });
}

const policyRow = (policyId: string, { policyName, effect, consensus }: Parameters) => {
  return [policyId, policyName, effect, consensus];
};

const noUser: Denial = { code: notFound, says: "unable to find user" };

/** Of private key tags and interfaces the model has none, and of features one. */
const listsOfOrganization = [
  "list_users",
  "list_policies",
  "list_private_keys",
  "list_user_tags",
  "list_wallets",
  "get_organization_configs",
] as const satisfies Asked[];

/** One entry per query that the clients ask. */
export const queries: Record<string, QueryView> = {
  whoami: {
    tell: ({ organizationName, users }, _, userId) => [organizationName, userId, users.get(userId)?.userName],
    read: ({ organizationName, userId, username }) => [organizationName, userId, username],
  },
  list_users: {
    tell: (state) => sorted([...state.users.keys()].map((userId) => tellUser(state, userId))),
    read: ({ users }) => sorted(users.map(readUser)),
  },
  get_user: {
    tell: (state, { userId }) => tellUser(state, userId) ?? noUser,
    read: ({ user }) => readUser(user),
  },
  get_api_keys: {
    tell: ({ users }, { userId }) => {
      const user = users.get(userId);
      return user === undefined ? noUser : tellKeys(user).sort();
    },
    read: ({ apiKeys }) => readKeys(apiKeys).sort(),
  },
  get_authenticators: {
    tell: ({ users }, { userId }) => {
      const user = users.get(userId);
      return user === undefined ? noUser : tellPasskeys(user).sort();
    },
    read: ({ authenticators }) => readPasskeys(authenticators).sort(),
  },
  get_oauth_providers: {
    tell: ({ users }, { userId }) => {
      const user = users.get(userId);
      return user === undefined ? noUser : tellProviders(user).sort();
    },
    read: ({ oauthProviders }) => readProviders(oauthProviders).sort(),
  },
  get_authenticator: {
    tell: ({ users }, { authenticatorId }) => {
      const all = [...users.values()].flatMap(({ passkeys }) => passkeys);
      const found = all.find((passkey) => passkey.authenticatorId === authenticatorId);
      return found?.credentialId ?? { code: notFound, says: "unable to find authenticator" };
    },
    read: ({ authenticator }) => authenticator.credentialId,
  },
  list_user_tags: {
    tell: ({ tags }) => sorted([...tags]),
    read: ({ userTags }) => sorted(userTags.map(({ tagId, tagName }: Parameters) => [tagId, tagName])),
  },
  list_policies: {
    tell: ({ policies }) => sorted([...policies].map(([policyId, policy]) => policyRow(policyId, policy))),
    read: ({ policies }) => sorted(policies.map((policy: Parameters) => policyRow(policy.policyId, policy))),
  },
  get_policy: {
    tell: ({ policies }, { policyId }) => {
      const policy = policies.get(policyId);
      return policy === undefined ? { code: notFound, says: "unable to find policy" } : policyRow(policyId, policy);
    },
    read: ({ policy }) => policyRow(policy.policyId, policy),
  },
  list_private_keys: {
    tell: ({ privateKeys }) => sorted([...privateKeys]),
    read: ({ privateKeys }) =>
      sorted(privateKeys.map(({ privateKeyId, privateKeyName }: Parameters) => [privateKeyId, privateKeyName])),
  },
  get_private_key: {
    tell: ({ privateKeys }, { privateKeyId }) =>
      privateKeys.get(privateKeyId) ?? { code: notFound, says: "unable to find private key" },
    read: ({ privateKey }) => privateKey.privateKeyName,
  },
  list_wallets: {
    tell: ({ wallets }) => sorted([...wallets].map(([walletId, { walletName }]) => [walletId, walletName])),
    read: ({ wallets }) => sorted(wallets.map(({ walletId, walletName }: Parameters) => [walletId, walletName])),
  },
  get_wallet: {
    tell: ({ wallets }, { walletId }) =>
      wallets.get(walletId)?.walletName ?? { code: notFound, says: "unable to find wallet" },
    read: ({ wallet }) => wallet.walletName,
  },
  list_wallet_accounts: {
    tell: ({ wallets }) => sorted([...wallets].map(([walletId, { address }]) => [walletId, address])),
    read: ({ accounts }) => sorted(accounts.map(({ walletId, address }: Parameters) => [walletId, address])),
  },
  /** Several lists of one moment. */
  get_organization: {
    tell: (state, parameters, callerId) => [
      state.organizationName,
      ...listsOfOrganization.map((path) => queries[path]?.tell(state, parameters, callerId)),
    ],
    read: ({ organizationData }) => {
      const { name, tags: userTags, rootQuorum: quorum, features, ...lists } = organizationData;
      const json = { ...lists, userTags, configs: { quorum, features } };
      return [name, ...listsOfOrganization.map((path) => queries[path]?.read(json))];
    },
  },
  get_organization_configs: {
    tell: ({ quorum, originsFeature }) => {
      return [quorum.threshold, [...quorum.userIds].sort(), ...(originsFeature === undefined ? [] : [originsFeature])];
    },
    read: ({ configs: { quorum, features } }) => {
      const own = features.filter(({ name }: Parameters) => name === "FEATURE_NAME_WEBAUTHN_ORIGINS");
      return [quorum.threshold, [...quorum.userIds].sort(), ...own.map(({ value = "" }: Parameters) => value)];
    },
  },
  /** Those that wait. */
  list_activities: {
    tell: ({ activities }) =>
      sorted([...activities.values()].filter(({ status }) => status === "CONSENSUS_NEEDED").map(tellActivity)),
    read: (json) => sorted(json.activities.map((each: Parameters) => withoutResult(readActivity(each)))),
  },
  get_activity: {
    tell: ({ activities }, { activityId }) => {
      const found = [...activities.values()].find((activity) => activity.activityId === activityId);
      return found === undefined ? { code: notFound, says: "unable to find activity" } : tellActivity(found);
    },
    read: ({ activity }) => withoutResult(readActivity(activity)),
  },
} satisfies Record<Asked, QueryView>;

/** What a query shows this user in this state. */
export function ask(state: State, path: string, parameters: Parameters, callerId: string): View | Denial {
  const query = queries[path];
  if (query === undefined) throw new Error(`the model does not know ${path}`);
  return query.tell(state, parameters, callerId);
}

const withoutResult = ({ activityId, status, votes }: Seen) => ({ activityId, status, votes });

export function tellActivity({ activityId, status, votes: [first, ...others] }: Activity): Omit<Seen, "result"> {
  const votes = others.map(({ userId, selection }) => `${userId} ${selection}`).sort();
  return { activityId, status, votes: [`${first?.userId} ${first?.selection}`, ...votes] };
}

export function readActivity({ id, status, votes: [first, ...others], result }: Parameters): Seen {
  const line = ({ userId, selection }: Parameters) => `${userId} ${selection.replace("VOTE_SELECTION_", "")}`;
  return {
    activityId: id,
    status: status.replace("ACTIVITY_STATUS_", ""),
    votes: [line(first), ...others.map(line).sort()],
    result: Object.values(result)[0],
  };
}
