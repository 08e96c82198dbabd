/** What each activity of the clients does to an organization, or why it does not: the second half of the model. */
import type { Vote, Written } from "./left_out.ts";
import type { Key, Made, Parameters, Policy, State, User } from "./model.ts";
import { exhausted, get, invalid, notFound, Refusal } from "./refusal.ts";
import { newPasskeys, refuseKnownKeys, refuseLockOut, signInRuns, withUser } from "./sign_in_acts.ts";

const longLivedKeys = 10;

/** What an activity does, checked at once, done when the ids are known. */
export type Run = (state: State, parameters: Parameters, proposerId: string) => (made: Made) => State;

/** One entry per path; what a vote does is the model's own. */
export const runs: Record<string, Run> = {
  create_users(state, { users: [asked] }) {
    refuseKnownKeys(state, asked.apiKeys);
    for (const tagId of asked.userTags) get(state.tags, tagId, "unable to find user tag");
    const register = newPasskeys(state, asked.authenticators);
    return ({ result: { userIds } }) => {
      const keys = asked.apiKeys.map(({ publicKey }: Key) => ({ apiKeyId: "?", publicKey }));
      const user = { userName: asked.userName, tags: asked.userTags, keys, passkeys: register() };
      return withUser(state, fresh(state.users, userIds[0]), user);
    };
  },
  update_user(state, { userId, userName, userTagIds }) {
    for (const tagId of userTagIds ?? []) get(state.tags, tagId, "unable to find user tag");
    const user = get(state.users, userId, "unable to find user");
    return () =>
      withUser(state, userId, { ...user, userName: userName ?? user.userName, tags: userTagIds ?? user.tags });
  },
  update_user_name: changeUser(({ userName }) => ({ userName })),
  update_user_email: changeUser(({ userEmail }) => ({ email: userEmail })),
  update_user_phone_number: changeUser(({ userPhoneNumber }) => ({ phoneNumber: userPhoneNumber })),
  delete_users(state, { userIds }) {
    for (const userId of userIds) get(state.users, userId, "unable to find user");
    if (userIds.some((userId: string) => state.quorum.userIds.includes(userId))) {
      throw new Refusal(invalid, "quorum users missing");
    }
    return () => ({ ...state, users: without(state.users, userIds) });
  },
  create_user_tag(state, { userTagName, userIds }) {
    refuseTakenName(state.tags, userTagName, "user tag label must be unique");
    const carriers = userIds.map(
      (userId: string) => [userId, get(state.users, userId, "unable to find user")] as const,
    );
    return ({ result: { userTagId } }) => {
      const users = new Map(state.users);
      for (const [userId, user] of carriers) users.set(userId, { ...user, tags: [...user.tags, userTagId] });
      return { ...state, users, tags: new Map(state.tags).set(fresh(state.tags, userTagId), userTagName) };
    };
  },
  update_user_tag(state, { userTagId, newUserTagName, addUserIds, removeUserIds }) {
    const name = get(state.tags, userTagId, "unable to find user tag");
    if (newUserTagName !== undefined) {
      refuseTakenName(without(state.tags, [userTagId]), newUserTagName, "user tag label must be unique");
    }
    const named: string[] = [...new Set([...addUserIds, ...removeUserIds])];
    const found = named.map((userId) => [userId, get(state.users, userId, "unable to find user")] as const);
    return () => {
      const users = new Map(state.users);
      for (const [userId, user] of found) {
        const others = user.tags.filter((tagId) => tagId !== userTagId);
        const carries = addUserIds.includes(userId) && !removeUserIds.includes(userId);
        users.set(userId, { ...user, tags: carries ? [...others, userTagId] : others });
      }
      return { ...state, users, tags: new Map(state.tags).set(userTagId, newUserTagName ?? name) };
    };
  },
  delete_user_tags(state, { userTagIds }) {
    for (const tagId of userTagIds) get(state.tags, tagId, "unable to find user tag");
    return () => {
      const users = new Map<string, User>();
      for (const [userId, user] of state.users) {
        users.set(userId, { ...user, tags: user.tags.filter((tagId) => !userTagIds.includes(tagId)) });
      }
      return { ...state, users, tags: without(state.tags, userTagIds) };
    };
  },
  create_api_keys(state, { userId, apiKeys }) {
    const user = get(state.users, userId, "unable to find user");
    const lasting = user.keys.filter(({ session }) => session === undefined);
    if (lasting.length + apiKeys.length > longLivedKeys) throw new Refusal(exhausted, "maximum long-lived api keys");
    refuseKnownKeys(state, apiKeys);
    return ({ result: { apiKeyIds } }) => {
      const keys = apiKeys.map(({ publicKey }: Key, index: number) => ({ apiKeyId: apiKeyIds[index], publicKey }));
      return withUser(state, userId, { ...user, keys: [...user.keys, ...keys] });
    };
  },
  delete_api_keys(state, { userId, apiKeyIds }) {
    const user = get(state.users, userId, "unable to find user");
    const left = user.keys.filter(({ apiKeyId }) => !apiKeyIds.includes(apiKeyId));
    if (left.length !== user.keys.length - apiKeyIds.length) throw new Refusal(notFound, "unable to find api key");
    refuseLockOut({ ...user, keys: left });
    return () => withUser(state, userId, { ...user, keys: left });
  },
  update_root_quorum(state, { threshold, userIds }) {
    if (userIds.some((userId: string) => !state.users.has(userId))) throw new Refusal(invalid, "quorum users missing");
    if (threshold > userIds.length) throw new Refusal(invalid, "is larger than its");
    return () => ({ ...state, quorum: { threshold, userIds } });
  },
  update_organization_name:
    (state, { organizationName }) =>
    () => ({ ...state, organizationName }),
  create_policy: (state, policy) => {
    const create = createPolicies(state, [policy]);
    return ({ result: { policyId } }) => create([policyId]);
  },
  create_policies: (state, { policies }) => {
    const create = createPolicies(state, policies);
    return ({ result: { policyIds } }) => create(policyIds);
  },
  update_policy(state, { policyId, policyName, policyEffect }) {
    const policy = get(state.policies, policyId, "unable to find policy");
    if (policyName !== undefined) {
      refuseTakenName(without(policyNames(state), [policyId]), policyName, "policy label must be unique");
    }
    const changed = { ...policy, policyName: policyName ?? policy.policyName, effect: policyEffect ?? policy.effect };
    return () => ({ ...state, policies: new Map(state.policies).set(policyId, changed) });
  },
  delete_policy: (state, { policyId }) => deletePolicies(state, [policyId]),
  delete_policies: (state, { policyIds }) => deletePolicies(state, policyIds),
  create_wallet(state, { walletName }) {
    refuseTakenName(walletNames(state), walletName, "wallet label must be unique");
    return ({ result: { walletId, addresses } }) => {
      const wallets = new Map(state.wallets);
      return { ...state, wallets: wallets.set(fresh(wallets, walletId), { walletName, address: addresses[0] }) };
    };
  },
  update_wallet(state, { walletId, walletName }) {
    const wallet = get(state.wallets, walletId, "unable to find wallet");
    refuseTakenName(without(walletNames(state), [walletId]), walletName, "wallet label must be unique");
    return () => ({ ...state, wallets: new Map(state.wallets).set(walletId, { ...wallet, walletName }) });
  },
  delete_wallets(state, { walletIds }) {
    for (const walletId of walletIds) get(state.wallets, walletId, "unable to find wallet");
    return () => ({ ...state, wallets: without(state.wallets, walletIds) });
  },
  create_private_keys(state, { privateKeys: [asked] }) {
    refuseTakenName(state.privateKeys, asked.privateKeyName, "private key label must be unique");
    return ({
      result: {
        privateKeys: [made],
      },
    }) => {
      const privateKeys = new Map(state.privateKeys);
      return { ...state, privateKeys: privateKeys.set(fresh(privateKeys, made.privateKeyId), asked.privateKeyName) };
    };
  },
  delete_private_keys(state, { privateKeyIds }) {
    for (const privateKeyId of privateKeyIds) get(state.privateKeys, privateKeyId, "unable to find private key");
    return () => ({ ...state, privateKeys: without(state.privateKeys, privateKeyIds) });
  },
  sign_raw_payload: sign,
  sign_raw_payloads: sign,
  ...signInRuns,
} satisfies Record<Exclude<Written, Vote>, Run>;

/** What one member of the parameters changes in a user. */
function changeUser(change: (parameters: Parameters) => Partial<User>): Run {
  return (state, parameters) => {
    const user = get(state.users, parameters.userId, "unable to find user");
    return () => withUser(state, parameters.userId, { ...user, ...change(parameters) });
  };
}

function createPolicies(state: State, asked: readonly Policy[]): (policyIds: readonly string[]) => State {
  const names = policyNames(state);
  for (const { policyName } of asked) {
    refuseTakenName(names, policyName, "policy label must be unique");
    names.set(policyName, policyName);
  }
  return (policyIds) => {
    const policies = new Map(state.policies);
    for (const [index, { policyName, effect, consensus, condition }] of asked.entries()) {
      policies.set(fresh(policies, policyIds[index] ?? ""), { policyName, effect, consensus, condition });
    }
    return { ...state, policies };
  };
}

function deletePolicies(state: State, policyIds: readonly string[]): () => State {
  for (const policyId of policyIds) get(state.policies, policyId, "unable to find policy");
  return () => ({ ...state, policies: without(state.policies, policyIds) });
}

function sign(state: State, { signWith }: Parameters): () => State {
  const isAddress = [...state.wallets.values()].some(({ address }) => address === signWith);
  if (!isAddress && !state.privateKeys.has(signWith)) {
    throw new Refusal(notFound, "Could not find any resource to sign with");
  }
  return () => state;
}

/** An id that nothing has yet: made twice, it would collide. */
function fresh(things: ReadonlyMap<string, unknown>, id: string): string {
  if (things.has(id)) throw new Error(`${id} was made twice`);
  return id;
}

function without<T>(things: ReadonlyMap<string, T>, ids: readonly string[]): Map<string, T> {
  return new Map([...things].filter(([id]) => !ids.includes(id)));
}

const policyNames = ({ policies }: State) => new Map([...policies].map(([id, { policyName }]) => [id, policyName]));
const walletNames = ({ wallets }: State) => new Map([...wallets].map(([id, { walletName }]) => [id, walletName]));

function refuseTakenName(names: ReadonlyMap<string, string>, name: string, says: string): void {
  for (const other of names.values()) if (other === name) throw new Refusal(invalid, says);
}
