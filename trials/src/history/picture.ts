/** What the clients ask for: one entry per endpoint, chosen by a seed from what they believe of an organization. */

import { createKey } from "@keystead/e2e/key_pairs.ts";
import { ethereum } from "@keystead/e2e/matrix/keys.ts";
import { authenticatorParams, createPasskey } from "@keystead/e2e/passkeys.ts";
import type { Random } from "../../../core/test/seeded_random.ts";
import { apiKeyOf } from "../races/stage.ts";
import { identityWrites } from "./identity_choices.ts";
import {
  anyUser,
  type Bearer,
  type Choice,
  newPerson,
  type Person,
  type Picture,
  remember,
  some,
  type Write,
} from "./known.ts";
import type { Asked, Written } from "./left_out.ts";
import { type Parameters, policyOf } from "./model.ts";
import { signInWrites } from "./sign_in_choices.ts";

/** All that waits is listed in one page, so it must not become too much. */
const manyWaiting = 8;

const names = ["amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath"];

/** The paths that policies are made for. */
const allowable = [
  "create_user_tag",
  "create_wallet",
  "sign_raw_payload",
  "update_wallet",
] as const satisfies Written[];

function newPolicy(picture: Picture, random: Random): Parameters {
  const users = [anyUser(picture, random), ...(random.next() < 0.5 ? [anyUser(picture, random)] : [])];
  const effect = random.next() < 0.75 ? "EFFECT_ALLOW" : "EFFECT_DENY";
  return {
    policyName: random.pick(names),
    effect,
    ...policyOf([...new Set(users)], random.pick(allowable)),
    notes: "",
  };
}

/** An address, or the id of a private key. */
function signer({ wallets, privateKeys }: Picture, random: Random): string | undefined {
  return some([...wallets.map(({ address }) => address), ...privateKeys], random);
}

const payloadChoices = { encoding: "PAYLOAD_ENCODING_HEXADECIMAL", hashFunction: "HASH_FUNCTION_NO_OP" };

function payload(random: Random): string {
  return random
    .below(2 ** 31)
    .toString(16)
    .padStart(64, "0");
}

/** One entry per activity that the clients submit: how often, and with which parameters. */
const writes: Record<string, Write> = {
  create_users: {
    weight: 6,
    choose(picture, random) {
      // At times a key that somebody has already.
      const known = some(picture.members, random)?.keys[0];
      const key = known !== undefined && random.next() < 0.1 ? known : createKey();
      const tag = some(picture.tags, random);
      const userTags = tag !== undefined && random.next() < 0.3 ? [tag] : [];
      const passkeys = random.next() < 0.3 ? [createPasskey()] : [];
      const authenticators = passkeys.map((passkey) => authenticatorParams(passkey));
      const user = { userName: random.pick(names), apiKeys: [apiKeyOf(key)], authenticators, oauthProviders: [] };
      return {
        parameters: { users: [{ ...user, userTags }] },
        after: ({ userIds }) => remember(picture.members, newPerson(userIds[0], [key], passkeys)),
      };
    },
  },
  update_user: {
    weight: 6,
    choose(picture, random) {
      const tags = picture.tags.filter(() => random.next() < 0.3);
      const change = random.next() < 0.5 ? { userName: random.pick(names) } : { userTagIds: [...new Set(tags)] };
      return { parameters: { userId: anyUser(picture, random), ...change } };
    },
  },
  update_user_name: {
    weight: 2,
    choose: (picture, random) => ({ parameters: { userId: anyUser(picture, random), userName: random.pick(names) } }),
  },
  update_user_email: {
    weight: 2,
    choose: (picture, random) => ({
      parameters: {
        userId: anyUser(picture, random),
        userEmail: random.pick(["", "one@example.com", "two@example.com"]),
      },
    }),
  },
  update_user_phone_number: {
    weight: 2,
    choose: (picture, random) => ({
      parameters: {
        userId: anyUser(picture, random),
        userPhoneNumber: random.pick(["", "+15551234567", "+4930123456"]),
      },
    }),
  },
  delete_users: {
    weight: 4,
    choose: (picture, random) => ({ parameters: { userIds: [anyUser(picture, random)] } }),
  },
  create_user_tag: {
    weight: 8,
    choose: (picture, random) => ({
      parameters: {
        userTagName: random.pick(names),
        userIds: random.next() < 0.4 ? [anyUser(picture, random)] : [],
      },
      after: ({ userTagId }) => remember(picture.tags, userTagId),
    }),
  },
  update_user_tag: {
    weight: 4,
    choose(picture, random) {
      const userTagId = some(picture.tags, random);
      if (userTagId === undefined) return undefined;
      const change = random.next() < 0.5 ? { newUserTagName: random.pick(names) } : {};
      const who = () => (random.next() < 0.4 ? [anyUser(picture, random)] : []);
      return { parameters: { userTagId, ...change, addUserIds: who(), removeUserIds: who() } };
    },
  },
  delete_user_tags: {
    weight: 5,
    choose(picture, random) {
      const userTagId = some(picture.tags, random);
      return userTagId === undefined ? undefined : { parameters: { userTagIds: [userTagId] } };
    },
  },
  create_api_keys: {
    weight: 4,
    choose(picture, random) {
      const person = random.pick([...picture.roots, ...picture.members]);
      const key = createKey();
      return {
        parameters: { userId: person.userId, apiKeys: [apiKeyOf(key)] },
        after({ apiKeyIds }) {
          // The first one stays: whoever is remembered can act.
          person.keys = [...person.keys.slice(0, 1), ...person.keys.slice(1).slice(-4), key];
          remember(picture.apiKeys, { userId: person.userId, apiKeyId: apiKeyIds[0] });
        },
      };
    },
  },
  delete_api_keys: {
    weight: 4,
    choose(picture, random) {
      const found = some(picture.apiKeys, random);
      return found && { parameters: { userId: found.userId, apiKeyIds: [found.apiKeyId] } };
    },
  },
  create_policy: {
    weight: 4,
    choose: (picture, random) => ({
      parameters: newPolicy(picture, random),
      after: ({ policyId }) => remember(picture.policies, policyId),
    }),
  },
  create_policies: {
    weight: 2,
    // At times two of one name, which are none.
    choose: (picture, random) => ({
      parameters: { policies: [newPolicy(picture, random), newPolicy(picture, random)] },
      after({ policyIds }) {
        for (const policyId of policyIds) remember(picture.policies, policyId);
      },
    }),
  },
  update_policy: {
    weight: 3,
    choose(picture, random) {
      const policyId = some(picture.policies, random);
      const policyEffect = random.pick(["EFFECT_ALLOW", "EFFECT_DENY"]);
      const change = random.next() < 0.5 ? { policyName: random.pick(names) } : { policyEffect };
      return policyId === undefined ? undefined : { parameters: { policyId, ...change } };
    },
  },
  delete_policy: {
    weight: 4,
    choose(picture, random) {
      const policyId = some(picture.policies, random);
      return policyId === undefined ? undefined : { parameters: { policyId } };
    },
  },
  delete_policies: {
    weight: 2,
    choose(picture, random) {
      const policyIds = picture.policies.filter(() => random.next() < 0.3);
      return policyIds.length === 0 ? undefined : { parameters: { policyIds } };
    },
  },
  create_private_keys: {
    weight: 3,
    choose: (picture, random) => ({
      parameters: {
        privateKeys: [
          { privateKeyName: random.pick(names), curve: "CURVE_SECP256K1", privateKeyTags: [], addressFormats: [] },
        ],
      },
      after: ({ privateKeys: [made] }) => remember(picture.privateKeys, made.privateKeyId),
    }),
  },
  delete_private_keys: {
    weight: 2,
    choose(picture, random) {
      const privateKeyId = some(picture.privateKeys, random);
      return privateKeyId === undefined
        ? undefined
        : { parameters: { privateKeyIds: [privateKeyId], deleteWithoutExport: true } };
    },
  },
  create_wallet: {
    weight: 5,
    choose: (picture, random) => ({
      parameters: { walletName: random.pick(names), accounts: [ethereum] },
      after: ({ walletId, addresses }) => remember(picture.wallets, { walletId, address: addresses[0] }),
    }),
  },
  update_wallet: {
    weight: 3,
    choose(picture, random) {
      const wallet = some(picture.wallets, random);
      return wallet && { parameters: { walletId: wallet.walletId, walletName: random.pick(names) } };
    },
  },
  delete_wallets: {
    weight: 3,
    choose(picture, random) {
      const wallet = some(picture.wallets, random);
      return wallet && { parameters: { walletIds: [wallet.walletId], deleteWithoutExport: true } };
    },
  },
  sign_raw_payload: {
    weight: 8,
    choose(picture, random) {
      const signWith = signer(picture, random);
      if (signWith === undefined) return undefined;
      return { parameters: { signWith, payload: payload(random), ...payloadChoices } };
    },
  },
  sign_raw_payloads: {
    weight: 3,
    choose(picture, random) {
      const signWith = signer(picture, random);
      if (signWith === undefined) return undefined;
      return { parameters: { signWith, payloads: [payload(random), payload(random)], ...payloadChoices } };
    },
  },
  update_root_quorum: {
    weight: 2,
    choose({ roots }, random) {
      const left = roots.filter(() => random.next() < 0.7);
      const userIds = (left.length < 2 ? roots : left).map(({ userId }) => userId);
      return { parameters: { threshold: 1 + random.below(2), userIds } };
    },
  },
  update_organization_name: {
    weight: 3,
    choose: (_, random) => ({ parameters: { organizationName: random.pick(names) } }),
  },
  approve_activity: {
    weight: 14,
    choose(picture, random) {
      const fingerprint = some(picture.waiting, random)?.fingerprint;
      return fingerprint === undefined ? undefined : { parameters: { fingerprint } };
    },
  },
  reject_activity: {
    weight: 3,
    choose(picture, random) {
      const fingerprint = some(picture.waiting, random)?.fingerprint;
      return fingerprint === undefined ? undefined : { parameters: { fingerprint } };
    },
  },
  ...signInWrites,
  ...identityWrites,
} satisfies Record<Written, Write>;

type Read = (picture: Picture, random: Random) => Parameters | undefined;

/** One entry per query. */
const reads: Record<string, Read> = {
  whoami: () => ({}),
  list_users: () => ({}),
  get_user: (picture, random) => ({ userId: anyUser(picture, random) }),
  get_api_keys: (picture, random) => ({ userId: anyUser(picture, random) }),
  get_authenticators: (picture, random) => ({ userId: anyUser(picture, random) }),
  get_oauth_providers: (picture, random) => ({ userId: anyUser(picture, random) }),
  get_authenticator: ({ authenticators }, random) =>
    some(
      authenticators.map(({ authenticatorId }) => ({ authenticatorId })),
      random,
    ),
  list_user_tags: () => ({}),
  list_policies: () => ({}),
  get_policy: ({ policies }, random) =>
    some(
      policies.map((policyId) => ({ policyId })),
      random,
    ),
  list_private_keys: () => ({}),
  get_private_key: ({ privateKeys }, random) =>
    some(
      privateKeys.map((privateKeyId) => ({ privateKeyId })),
      random,
    ),
  list_wallets: () => ({}),
  get_wallet: ({ wallets }, random) =>
    some(
      wallets.map(({ walletId }) => ({ walletId })),
      random,
    ),
  list_wallet_accounts: () => ({}),
  get_organization: () => ({}),
  get_organization_configs: () => ({}),
  list_activities: () => ({
    filterByStatus: ["ACTIVITY_STATUS_CONSENSUS_NEEDED"],
    paginationOptions: { limit: "100" },
  }),
  get_activity: ({ activities }, random) =>
    some(
      activities.map((activityId) => ({ activityId })),
      random,
    ),
} satisfies Record<Asked, Read>;

const weighted = Object.entries(writes).flatMap(([path, { weight }]) => Array.from({ length: weight }, () => path));

/** Mostly the first users, who may do most things; at times a member, or somebody who was one. */
function anyCaller({ roots, members }: Picture, random: Random): Person {
  return random.next() < 0.7 || members.length === 0 ? random.pick(roots) : random.pick(members);
}

/** What stamps for this person: mostly its first key, which lasts. */
function stamperOf({ keys, passkeys, sessions }: Person, random: Random): Bearer {
  return random.next() < 0.5 ? (keys[0] as Bearer) : random.pick([...keys, ...passkeys, ...sessions]);
}

/** What reads for this person, or tries to write. */
function readerOf({ readers }: Person, random: Random): Bearer | undefined {
  const nowMs = Date.now();
  return some(
    readers.filter(({ untilMs }) => untilMs > nowMs),
    random,
  );
}

export function chooseWrite(picture: Picture, random: Random): Choice {
  const caller = anyCaller(picture, random);
  const reader = random.next() < 0.02 ? readerOf(caller, random) : undefined;
  const by = reader ?? stamperOf(caller, random);
  const dice = random.next();
  const repeated = dice < 0.04 ? some(picture.bodies, random) : undefined;
  if (repeated !== undefined) return { ...repeated, parameters: JSON.parse(repeated.body).parameters };
  const waiting = dice < 0.1 ? some(picture.waiting, random) : undefined;
  if (waiting !== undefined) {
    return { path: waiting.path, body: waiting.body, parameters: JSON.parse(waiting.body).parameters, by };
  }
  for (;;) {
    // What waits is voted on before more is added to it.
    const path =
      picture.waiting.length > manyWaiting && random.next() < 0.5 ? "approve_activity" : random.pick(weighted);
    const chosen = writes[path]?.choose(picture, random, caller);
    if (chosen !== undefined) return { path, by, ...chosen };
  }
}

export function chooseRead(picture: Picture, random: Random): Choice {
  const caller = anyCaller(picture, random);
  const reader = random.next() < 0.3 ? readerOf(caller, random) : undefined;
  for (;;) {
    const path = random.pick(Object.keys(reads));
    const parameters = reads[path]?.(picture, random);
    if (parameters !== undefined) return { path, parameters, by: reader ?? stamperOf(caller, random) };
  }
}
